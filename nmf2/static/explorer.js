// The explorer: a tree of topics to unfold, search and read.
// `explore(place, host)` draws it into an element. The host says what is in the tree, answers questions and keeps
// the state: on a page that is pageHost in page.js, in a notebook kernelHost in kernel.js.
// Texts are never put into the page as markup: elements are built by `make`, so whatever is in a document stays text.

// ---- Helpers

function make(tag, given, ...inside) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(given || {})) {
    const set = text => element.setAttribute(name, text)
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value)
    else if (name === 'style') element.style.cssText = value
    else if (value === true) set('')
    else if (value !== false && value != null) set(value)
  }
  return fill(element, inside)
}

function fill(element, ...inside) {
  element.replaceChildren(...inside.flat(9).filter(part => part != null && part !== false))
  return element
}

const number = new Intl.NumberFormat('en').format
const counted = n => `${number(n)} ${n === 1 ? 'document' : 'documents'}`

// As `shortened` in nmf2.tree: the beginning and the end of a long word
const short = (text, most = 40) => {
  const letters = Array.from(text.slice(0, 2 * most + 1))
  if (letters.length <= most) return text
  const end = Math.floor((most - 1) / 3)
  const last = Array.from(text.slice(-2 * most)).slice(-end)
  return `${letters.slice(0, most - 1 - end).join('')}…${last.join('')}`
}

// With a space that no line is broken at, so that a number keeps its sign
const percent = share => `${share > 0 && share < 0.005 ? '<1' : Math.round(100 * share)}\u00a0%`
const rounded = x => (x < 10 ? x.toPrecision(2) : number(Math.round(x)))
const sorry = error => make('span', {class: 'error', role: 'alert'}, error.message)
const bar = share => `--share:${(100 * share).toFixed(1)}%`

// A menu that unfolds: what its entries are called and do. Escape folds it, and so does a press elsewhere, which the
// explorer hears of.
function menu(name, entries) {
  const summary = make('summary', {}, name)
  const press = act => () => {
    list.open = false
    summary.focus()
    act()
  }
  const close = event => {
    if (event.key !== 'Escape' || !list.open) return
    event.stopPropagation()
    list.open = false
    summary.focus()
  }
  const buttons = entries.map(([name, act]) => make('button', {onclick: press(act)}, name))
  const list = make('details', {class: 'menu', onkeydown: close}, summary, make('div', {}, buttons))
  return list
}

const words = ({heading, titled, terms}, most) =>
  heading ? heading.slice(0, most ?? titled).join(', ') : terms.slice(0, 3).join(' ')
const titleOf = (node, names, most) =>
  short(names[node.id] || '', 100) || (node.id ? words(node, most) : 'all documents')

// `before` is what the view was like that this one takes the place of, as its `leave` gave it
function explore(place, host, before) {
  // ---- State: the node chosen, the view, the number of leaves, the nodes unfolded, the names given

  const tree = host.tree
  const state = host.state
  const nodes = new Map(tree.nodes.map(node => [node.id, node]))
  const all = splitsView(tree, state)
  const outline = outlineView(tree)
  const view = () => (state.outline ? outline : all)
  const marks = new Map() // rank of the word that was looked for, by node
  const seen = new Map() // answers about nodes
  const coming = new Map() // answers about nodes that were asked for and are not there yet

  const parent = id => id.slice(0, -1)
  const splits = id => view().parts(id).length > 0
  const shown = id =>
    view().has(id) &&
    view()
      .above(id)
      .every(id => state.unfolded.has(id))

  const title = id => titleOf(nodes.get(id), state.names)
  const brief = id => titleOf(nodes.get(id), state.names, 3) // where it stands among others
  const asked = (what, ...given) => host.ask(what, ...given).catch(sorry) // an answer, or what to show in its place
  const saving = event => (event.ctrlKey || event.metaKey) && event.key === 's'
  const own = event => saving(event) || event.stopPropagation()

  const inner = new Set(tree.splits)
  const goOn = () => (isNarrow() ? closePane() : markChosen(true))
  const parts = {
    at: () => state.selected,
    title: brief,
    isLeaf: id => !inner.has(id),
    redraw: () => drawNode(),
    goOn,
    stay,
  }
  const edits = host.drawEdits?.(host, parts) // the menu that changes the tree, where there is a kernel to do it

  // See to it that a node is there: one that the outline lacks is among all splits, or not there yet in a smaller tree
  function reachFor(id) {
    if (state.outline && !outline.has(id)) setView(false)
    if (state.outline || all.has(id)) return
    grow(all.number(parent(id)) + 1)
    drawTree()
  }

  function choose(id, {document, focus = true, reach = false, open = false} = {}) {
    if (reach) reachFor(id)
    while (!view().has(id)) id = parent(id)
    picked = []
    const hidden = !shown(id)
    for (const other of view().above(id)) state.unfolded.add(other)
    if (hidden) {
      host.keep('unfolded')
      drawTree()
    }
    state.selected = id
    host.keep('selected')
    host.visits?.visit(id, viewed())
    markChosen(focus)
    map?.mark(id, document?.[0])
    seeChosen()
    drawNode({document})
    if (open) openPane()
  }

  // ---- Support: how well a topic is found again, if somebody looked, with a mark where it is weak

  const foundAgain = 'how well the topic is found again when the tree is fitted to other parts of the documents'
  const explained = `${foundAgain}; below ${percent(tree.weak)} don't trust it`
  const knows = id => nodes.get(id).support != null
  const isWeak = id => knows(id) && nodes.get(id).support < tree.weak
  const support = id => (knows(id) ? `${percent(nodes.get(id).support)}${isWeak(id) ? '\u00a0?' : ''}` : '–')
  const supportCell = id =>
    tree.weak != null &&
    make('span', {class: `support number${isWeak(id) ? ' weak' : ''}`, title: explained}, support(id))

  // ---- The overview: a picture of the outline

  const outlineOf = id => (outline.has(id) ? id : outlineOf(parent(id))) // the node itself, or the next above it
  const size = id => nodes.get(id).size
  const told = id => {
    const share = percent(size(id) / tree.n_docs)
    const about = `${counted(size(id))}, ${share}${knows(id) ? `, support ${support(id)}` : ''}`
    const brief = `${number(size(id))} · ${share}${isWeak(id) ? ' · weak' : ''}`
    return {title: title(id), about, brief, spoken: `${title(id)}, ${about}`}
  }
  const see = (id, open) => choose(id, {focus: false, reach: true, open})
  const overview = tree.levels.length > 0 ? drawPicture(outline, size, told, see) : null
  const hues = huesOf(outline)

  function hueOf(id) {
    const hue = hues.get(top1(outline, outlineOf(id)))
    return hue == null ? '' : `;--hue:${hue}`
  }

  // ---- The tree: a list of rows, drawn anew when something is folded

  const wide = `--digits:${number(tree.n_docs).length}`
  const rows = make('div', {class: 'tree', role: 'tree', 'aria-label': 'topics', style: wide, onkeydown: press})
  const rowOf = id => rows.querySelector(`[data-id="${id}"]`)

  const heading = node => {
    const [words, between, titled] = node.heading ? [node.heading, ', ', node.titled] : [node.terms, ' ', 3]
    const more = node.id ? words.slice(state.names[node.id] ? 0 : titled).join(between) : ''
    return [make('b', {}, title(node.id)), ' ', more]
  }

  const spoken = id => told(id).spoken + (marks.has(id) ? `, word no. ${number(marks.get(id))}` : '')

  // The nodes of the view whose rows can be seen, in order
  const listed = id => [id, ...(state.unfolded.has(id) ? view().parts(id).flatMap(listed) : [])]

  function row(node) {
    const open = splits(node.id) ? state.unfolded.has(node.id) : null
    const share = node.size / tree.n_docs
    const rank = marks.get(node.id)
    const fold = event => {
      if (open == null) return
      event.stopPropagation()
      turn(node.id)
    }
    const level = view().above(node.id).length
    const described = {
      class: hueOf(node.id) ? 'row hued' : 'row',
      role: 'treeitem',
      'data-id': node.id,
      'aria-level': level + 1,
      'aria-expanded': open?.toString(),
      'aria-selected': 'false',
      style: `${bar(share)};--level:${level}${hueOf(node.id)}`,
      tabindex: -1,
      'aria-label': spoken(node.id),
      title: `${node.id} ${node.terms.join(' ')}`.trim(),
    }
    return make(
      'div',
      described,
      make('span', {class: 'fold', 'aria-hidden': 'true', onclick: fold}, open == null ? '·' : open ? '▾' : '▸'),
      make('span', {class: 'words', dir: 'auto'}, heading(node)),
      rank ? make('span', {class: 'rank', title: 'rank of the word in this topic'}, `no. ${number(rank)}`) : null,
      make('span', {class: 'number'}, number(node.size)),
      make('span', {class: 'share number'}, percent(share)),
      supportCell(node.id),
      make('span', {class: 'score number'}, node.score == null || node.score < 0 ? '–' : rounded(node.score)),
    )
  }

  const head = make(
    'div',
    {class: 'row head', 'aria-hidden': 'true'},
    make('span', {class: 'words'}, 'topic'),
    make('span', {class: 'number', title: 'documents'}, 'docs'),
    make('span', {class: 'share number'}, 'share'),
    tree.weak != null && make('span', {class: 'support number', title: explained}, 'support'),
    make('span', {class: 'score number', title: 'how good the split is, or would be'}, 'score'),
  )

  const deepest = Math.max(1, ...tree.nodes.map(node => node.id.length))

  function drawTree() {
    const focused = rows.contains(rows.getRootNode().activeElement)
    const top = rows.scrollTop
    rows.style.setProperty('--levels', state.outline ? tree.levels.length : deepest)
    fill(
      rows,
      head,
      listed('').map(id => row(nodes.get(id))),
    )
    rows.scrollTop = top
    markChosen(focused)
  }

  function markChosen(focus) {
    for (const other of rows.querySelectorAll('[aria-selected=true]')) {
      other.setAttribute('aria-selected', 'false')
      other.tabIndex = -1
    }
    const chosen = rowOf(state.selected) || rowOf('')
    chosen.setAttribute('aria-selected', 'true')
    chosen.tabIndex = 0
    overview?.mark(outlineOf(state.selected))
    edits?.draw()
    if (focus) chosen.focus({preventScroll: true})
  }

  function seeChosen() {
    const {top, bottom} = rowOf(state.selected).getBoundingClientRect()
    const {top: start} = rows.getBoundingClientRect()
    const headHeight = 28
    const tooHigh = Math.min(0, top - start - headHeight)
    const tooLow = Math.max(0, bottom - start - rows.clientHeight)
    rows.scrollTop += tooHigh + tooLow // the tree is scrolled, not the page
  }

  // ---- Folding, by mouse and by key

  function turn(id, open = !state.unfolded.has(id)) {
    if (!splits(id)) return
    if (open) state.unfolded.add(id)
    else state.unfolded.delete(id)
    host.keep('unfolded')
    drawTree()
    if (!shown(state.selected)) choose(id)
  }

  rows.addEventListener('click', event => {
    const clicked = event.target.closest('[data-id]')
    if (clicked) choose(clicked.dataset.id, {open: true})
  })
  rows.addEventListener('dblclick', event => {
    const clicked = event.target.closest('[data-id]')
    if (clicked) turn(clicked.dataset.id)
  })

  // The keys that the rules for accessible pages (WAI-ARIA) lay down for trees
  function press(event) {
    const all = [...rows.querySelectorAll('[data-id]')]
    const id = state.selected
    const at = all.indexOf(rowOf(id))
    const open = splits(id) && state.unfolded.has(id)
    const go = k => choose(all[Math.max(0, Math.min(all.length - 1, k))].dataset.id)
    const keys = {
      ArrowDown: () => go(at + 1),
      ArrowUp: () => go(at - 1),
      Home: () => go(0),
      End: () => go(all.length - 1),
      ArrowRight: () => (open ? go(at + 1) : turn(id, true)),
      ArrowLeft: () => (open ? turn(id, false) : id && choose(view().above(id).at(-1))),
      Enter: () => (isNarrow() ? openPane() : turn(id)),
      ' ': () => turn(id),
      F2: () => rename(),
      '/': () => query.focus(),
    }
    if (event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return
    event.preventDefault()
    keys[event.key]()
  }

  // ---- A node: its words, its documents, their labels

  const back = make('button', {class: 'back', onclick: () => closePane()}, '‹ topics')
  const body = make('div', {})
  const pane = make(
    'section',
    {class: 'node', 'aria-label': 'the topic chosen', tabindex: -1, onkeydown: leave},
    back,
    body,
  )
  const jump = (id, name = brief(id)) =>
    make('button', {class: 'link', onclick: () => choose(id, {reach: true, open: true})}, name)

  // Where there is little room, the node is shown in place of the tree, and a button leads back
  const isNarrow = () => getComputedStyle(back).display !== 'none'

  function read(reading) {
    for (const part of place.children) part.classList.toggle('reading', reading)
  }

  function openPane() {
    read(true)
    if (!isNarrow()) return
    host.visits?.visit(state.selected, viewed(), true)
    back.focus()
  }

  const isReading = () => pane.parentElement.classList.contains('reading')

  function stay() {
    if (isReading() && isNarrow()) back.focus()
    else markChosen(true)
  }

  function closePane() {
    read(false)
    host.visits?.close()
    markChosen(true)
    rowOf(state.selected).scrollIntoView({block: 'nearest'})
  }

  function leave(event) {
    if (event.key !== 'Escape') return
    if (isNarrow()) closePane()
    else if (picked.length) choose(state.selected, {focus: false})
  }

  const largest = pairs => Math.max(...pairs.map(pair => pair[1]))

  function bars(pairs, kind, note = () => '', most = largest(pairs)) {
    const one = ([word, weight]) => [
      make('span', {class: 'word', dir: 'auto', title: word.textContent || word}, word),
      make('i', {style: bar(weight / most)}),
      make('span', {class: 'soft'}, note(weight)),
    ]
    return make('div', {class: `bars ${kind}`}, pairs.map(one))
  }

  function facts(id) {
    const node = nodes.get(id)
    const known = [id ? `node ${id}` : 'the root', counted(node.size), percent(node.size / tree.n_docs)]
    if (knows(id)) known.push(`support ${support(id)}`)
    if (node.score != null && node.score >= 0) known.push(`score ${rounded(node.score)}`)
    if (!state.outline && splits(id)) known.push(`split number ${all.number(id)}`)
    if (edits?.isKept(id)) known.push('kept')
    if (node.dropped) known.push(`${number(node.dropped)} dropped`)
    return known.join(' · ')
  }

  // Its words as bars, and next to them what tells it from its sibling, in the colour of either
  function wordsOf(node) {
    const own = [make('h3', {}, 'Words'), bars(edits ? edits.words(node.terms) : node.terms, '')]
    if (!node.id) return own
    const most = largest([...node.more, ...node.less])
    const other = [
      make('h3', {}, 'More here'),
      bars(node.more, '', undefined, most),
      make('h3', {}, 'More in its sibling, ', jump(node.sibling)),
      bars(node.less, 'there', undefined, most),
    ]
    return make('div', {class: 'two'}, make('div', {}, own), make('div', {}, other))
  }

  const folded = (name, open, ...inside) => make('details', {open}, make('summary', {}, make('b', {}, name)), inside)

  function sharesOf({top, others, without}, id) {
    const counts = [...top]
    if (others) counts.push(['others', others])
    if (without) counts.push(['(none)', without])
    return bars(counts, '', number, size(id))
  }

  function labelsOf(node) {
    const levels = node.labels.length
    const name = k => (levels > 1 ? `Labels, level ${k + 1}` : 'Labels')
    return node.labels.map(
      (level, k) => level.top.length > 0 && folded(name(k), k === levels - 1, sharesOf(level, node.id)),
    )
  }

  // Other columns: classes as bars like the labels, dates as a line of time
  function columnsOf(node) {
    const one = (column, k) => {
      const {name, times} = tree.columns[k]
      if (times) return folded(name, true, timeLine(column, times))
      return column.top.length > 0 && folded(name, true, sharesOf(column, node.id))
    }
    return node.columns.map(one)
  }

  function timeLine({counts, without}, times) {
    const most = Math.max(...counts, 1)
    const one = (count, k) => make('i', {style: bar(count / most), title: `${times[k]}: ${number(count)}`})
    const peak = counts.indexOf(Math.max(...counts))
    const said = `from ${times[0]} to ${times.at(-1)}, most in ${times[peak]}: ${counted(counts[peak])}`
    return [
      make('div', {class: 'times', role: 'img', 'aria-label': said}, counts.map(one)),
      make('div', {class: 'span soft'}, make('span', {}, times[0]), make('span', {}, times.at(-1))),
      without > 0 && make('div', {class: 'soft'}, `without: ${number(without)}`),
    ]
  }

  // ---- Documents: a name and a beginning; the whole text is fetched when one is unfolded

  // a long name may go on in the next line after these signs, so that it begins beside its triangle
  function parted(name) {
    const parts = name.match(/[^/\\_.:-]*[/\\_.:-]*/g).filter(Boolean)
    return parts.flatMap((part, k) => (k ? [make('wbr'), part] : [part]))
  }

  function doc(about, i, note, pattern, open = false) {
    const soft = words => [' ', make('span', {class: 'soft'}, words)]
    const text = make('div', {class: 'text'})
    const line = make(
      'summary',
      {},
      make('b', {}, parted(about.id)),
      note && soft(note),
      about.labels.length > 0 && soft(about.labels.at(-1)),
      ' ',
      make('span', {class: 'begins'}, marked(about.text, pattern)),
    )
    const list = make('details', {}, line, text)
    list.addEventListener('toggle', async () => {
      if (!list.open || text.childNodes.length) return
      const whole = await asked('text', i)
      const begun = about.text && make('div', {}, marked(about.text, pattern))
      fill(text, typeof whole === 'string' && whole ? marked(whole, pattern) : whole || [begun, host.none])
    })
    list.open = open
    return edits ? make('div', {class: 'choice'}, edits.box(i, about.id), list) : list
  }

  const notes = (...given) =>
    given.filter(Boolean).map(([text, title]) => make('span', {title, class: 'note'}, text, ' '))
  const sure = share => share != null && [percent(share), 'share of this topic in the document, among all topics']
  const stays = share =>
    share != null && [`stays ${percent(share)}`, 'how often the document stays in its topic in other fits']

  function documentsOf(node) {
    const border = ['On the border to ', node.sibling != null ? jump(node.sibling) : '']
    const dropped = 'Dropped here: without a counted word, or too few to split off and unlike the rest'
    const among = i => sure(node.sure[i])
    const against = k => [`${percent(node.shares[k])} here`, 'share of this topic against its sibling']
    const atTop = node.id.length === 1 // where the share against the sibling is that among all topics
    const lists = [
      [node.typical_at_all ? 'Typical documents' : 'The first documents', node.typical, i => [among(i)]],
      [border, node.borderline, (i, k) => [against(k), !atTop && among(i)]],
      [dropped, node.dropped, i => [among(i)]],
    ]
    const pattern = tree.words && node.typical_at_all ? patternOfWords(node.terms.map(term => term[0])) : null
    const drawn = lists.map(([title, list, shares]) => {
      if (!list.length) return null
      const one = (i, k) => doc(node.documents[i], i, notes(...shares(i, k), stays(node.stays[i])), pattern)
      return [make('h3', {}, title), list.map(one)]
    })
    const size = Math.max(node.typical.length, node.borderline.length)
    const left = Math.max(nodes.get(node.id).size, nodes.get(node.id).dropped) - size
    const more = () => drawNode({many: 4 * size})
    return [drawn, host.more && left > 0 && make('p', {}, make('button', {onclick: more}, 'more documents'))]
  }

  let naming = false // is a name being written?
  let drawn // which node is on the pane?

  // The menu of a topic, unfolded if it is on the pane and unfolded there
  function menuOf(id) {
    const own = edits?.menuOf(id)
    if (own && drawn === id) own.open = body.querySelector('.head .menu')?.open ?? false
    return own
  }

  function tell(id, ...more) {
    if (naming) return
    const own = menuOf(id)
    drawn = id
    body.dataset.node = id
    const way = view()
      .above(id)
      .map(id => [jump(id), ' › '])
    const renamer = make('button', {class: 'rename', onclick: rename}, 'rename')
    fill(
      body,
      make('nav', {class: 'soft', 'aria-label': 'way from the root'}, way, ' '),
      make('div', {class: 'head'}, make('h2', {dir: 'auto'}, title(id)), ' ', renamer, ' ', own),
      make('div', {class: 'soft facts', title: knows(id) && explained}, facts(id)),
      isWeak(id) && make('div', {class: 'weak'}, 'Weak: fits to other parts of the documents found other topics here.'),
      more,
    )
  }

  // ---- Answers may come late, when another node has been chosen: then they are kept, and not shown

  const waiting = 'Waiting for the kernel … (If the notebook has just been opened, run this cell.)'

  async function answered(id, many) {
    const late = setTimeout(() => {
      if (id === state.selected) tell(id, make('p', {class: 'soft'}, waiting))
    }, 700)
    seen.set(id, await host.ask('details', id, many).finally(() => clearTimeout(late)))
  }

  // Who asks again before the answer is there waits for the same one
  function answerOnce(id) {
    const answer = coming.get(id) || answered(id).finally(() => coming.delete(id))
    coming.set(id, answer)
    return answer
  }

  let turns = 0 // several that wait for the same answer draw it once: somebody may be reading already

  async function drawNode({many, document} = {}) {
    const id = state.selected
    turns += 1
    const turn = turns
    const late = () => id !== state.selected || (turn !== turns && !many && !document)
    try {
      if (many) await answered(id, many)
      else if (!seen.has(id)) await answerOnce(id)
    } catch (error) {
      if (!late()) tell(id, sorry(error))
      return
    }
    if (late() || picked.length) return
    const node = seen.get(id)
    const wanted = document && doc(document[1], document[0], 'found', document[2], true)
    tell(id, wanted, wordsOf(node), documentsOf(node), labelsOf(node), columnsOf(node))
    if (!many) pane.scrollTop = 0
  }

  // ---- The map, asked for when somebody wants to see it, and documents that were chosen on it together

  const sea = make('div', {class: 'map', role: 'region', 'aria-label': 'map'})
  let map // as drawMap gives it
  let picked = [] // dots
  let hits = [] // rows of documents whose texts have what is looked for

  async function openMap() {
    if (map) return
    fill(sea, make('p', {class: 'soft'}, 'Drawing the map …'))
    const about = await asked('map')
    if (about instanceof Node) return fill(sea, about)
    const hue = (id, group) => hues.get(top1(outline, outlineOf(id))) ?? (215 + group * 57) % 360
    map = drawMap(about, {
      hueOf: hue,
      told,
      choose: (id, dot, open) => clickMap(about, id, dot, open),
      pick: dots => pick(about, dots),
    })
    fill(sea, map.element, make('p', {class: 'soft'}, legend(about)))
    map.mark(state.selected)
    map.markFound(hits)
  }

  const legend = about => {
    const some = (n, all, what) => (n < all ? `${number(n)} of ${number(all)} ${what}. ` : '')
    const documents = some(about.rows.length, tree.n_docs, 'documents')
    const topics = some(about.islands.length, tree.splits.length + 1, 'topics')
    return `${documents}${topics}Each dot is a document: in the middle those most about their topic. Draw a line around some to see what they are about.`
  }

  async function clickMap(about, id, dot, open = isNarrow() && dot !== undefined) {
    const row = about.rows[dot]
    const found = dot < 0 ? null : await asked('documents', [row])
    const document = found && !(found instanceof Node) ? [row, found[0][1]] : undefined
    choose(id, {document, focus: false, reach: true, open})
  }

  function pick(about, dots) {
    picked = dots
    map.markPicked(dots)
    if (dots.length) drawPicked(about)
    else choose(state.selected, {focus: false})
  }

  async function drawPicked(about, many = 15) {
    const dots = picked
    const rowsOf = dots => dots.map(dot => about.rows[dot])
    if (!about.keys) fill(body, make('p', {class: 'soft'}, 'Reading the documents on the map …'))
    if (!about.keys) Object.assign(about, await asked('words'))
    const first = map.fromTheMiddle(dots).slice(0, many)
    const found = await asked('documents', rowsOf(first))
    if (dots !== picked || naming) return
    drawn = undefined
    const words = about.keys ? tellingWords(about, dots) : []
    const pattern = words.length ? patternOfWords(words.map(word => word[0])) : null
    const one = ([i, told]) => doc(told, i, notes([title(told.way)], sure(told.sure), stays(told.stays)), pattern)
    const more = make('button', {onclick: () => drawPicked(about, 4 * many)}, 'more documents')
    fill(
      body,
      make('h2', {}, `${counted(dots.length)} chosen`),
      ' ',
      make('button', {class: 'rename', onclick: () => pick(about, [])}, 'clear'),
      ' ',
      edits && make('button', {onclick: () => edits.choose(rowsOf(dots), true)}, 'choose them all to be moved'),
      words.length > 0 && [make('h3', {}, 'Words that tell them from the others'), bars(words, '', number)],
      make('h3', {}, 'Their topics'),
      bars(topicsOf(about, dots), 'wide', number, dots.length),
      make('h3', {}, 'Documents'),
      found instanceof Node ? found : found.map(one),
      dots.length > many && make('p', {}, more),
    )
    if (isNarrow()) openPane()
    pane.scrollTop = 0
  }

  function topicsOf(about, dots) {
    const counts = new Map()
    for (const dot of dots) counts.set(about.island[dot], (counts.get(about.island[dot]) || 0) + 1)
    const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 12)
    return most.map(([island, count]) => [jump(about.islands[island][0]), count])
  }

  // ---- Renaming: Enter keeps the name, and so does going elsewhere; Escape changes nothing

  function rename() {
    const id = state.selected
    read(true)
    if (drawn !== id) tell(id)
    const head = pane.querySelector('h2')
    const field = make('input', {
      type: 'text',
      dir: 'auto',
      'aria-label': 'name of the topic',
      value: state.names[id] || '',
      placeholder: title(id),
    })
    const end = (keep, back) => {
      if (!naming) return
      naming = false
      const name = field.value.trim().replace(/\s+/g, ' ')
      if (keep && name !== (state.names[id] || '')) {
        state.names = {...state.names, [id]: name}
        asked('rename', id, name)
        fill(rowOf(id).querySelector('.words'), heading(nodes.get(id))) // no other row: somebody may be clicking there
        rowOf(id).setAttribute('aria-label', spoken(id))
        overview?.name()
        map?.name()
      }
      fill(head, title(id))
      field.replaceWith(head)
      if (back || !pane.querySelector('h3')) drawNode()
      if (back) stay()
    }
    field.addEventListener('keydown', event => {
      own(event)
      if (event.isComposing || !['Enter', 'Escape'].includes(event.key)) return
      event.preventDefault() // it isn't for the button that has the focus then
      end(event.key === 'Enter', true)
    })
    field.addEventListener('blur', () => end(true))
    naming = true
    head.replaceWith(field)
    field.focus()
  }

  // ---- Search: answers come while one types

  const query = make('input', {
    type: 'search',
    dir: 'auto',
    maxlength: 2000, // of a text that is pasted
    placeholder: 'find words or documents',
    'aria-label': 'find words or documents',
  })
  const found = make('div', {class: 'found', role: 'region', 'aria-label': 'what was found', hidden: true})
  const heard = make('div', {class: 'heard', role: 'status'}) // how much was found, for those who hear the page
  let typed

  function showFound(...what) {
    found.hidden = false
    fill(found, what)
  }

  // The first topics of a list that are worth naming: in the outline, those of the outline
  const mostOf = list => list.filter(([id]) => !state.outline || outline.has(id)).slice(0, 6)

  // Topics by the names that they were given and by their titles, from the beginning of a word on: by a text as it stands,
  // or else by all of its words. Of the outline if there are some. Letters that are neither large nor small have words
  // that can't be told apart.
  function findTopics(text) {
    const begins = word => new RegExp(`(?<![\\p{Lu}\\p{Ll}\\p{N}])${plainly(bare(word))}`, 'iu')
    const withAll = wanted => {
      const patterns = wanted.map(begins)
      const fits = name => patterns.every(pattern => pattern.test(bare(name).normalize('NFC')))
      const named = node => fits(state.names[node.id] || '')
      const called = tree.nodes.filter(node => named(node) || (node.id && fits(words(node))))
      const near = called.filter(node => view().has(node.id))
      return (near.length ? near : called).sort((a, b) => named(b) - named(a) || b.size - a.size).map(node => node.id)
    }
    const whole = withAll([text])
    const each = text.split(/[\s,]+/).filter(Boolean)
    return whole.length || !each.length ? whole : withAll(each)
  }

  const andMore = (n, shown) => n > shown && make('span', {class: 'soft'}, `and ${number(n - shown)} more`)

  function foundTopics(ids) {
    const some = ids.slice(0, 6).map(id => jump(id, title(id)))
    return make(
      'p',
      {class: 'called'},
      make('b', {}, ids.length === 1 ? 'Topic' : 'Topics'),
      some,
      andMore(ids.length, 6),
    )
  }

  function foundWord([word, list]) {
    const topic = ([id, rank]) => make('span', {}, jump(id), make('span', {class: 'soft'}, ` no. ${number(rank)}`))
    return make('p', {}, make('b', {}, word), list.length ? mostOf(list).map(topic) : 'in no topic')
  }

  function foundDocument([i, about], pattern) {
    const go = () => choose(about.way, {document: [i, about, pattern], reach: !state.outline, open: true})
    const begins = about.text.length > 90 && !pattern ? `${about.text.slice(0, 90)} …` : about.text
    const where = about.sure == null ? '' : `, ${percent(about.sure)}`
    return make(
      'p',
      {},
      make('button', {class: 'link', onclick: go}, about.id),
      make('span', {class: 'soft'}, 'in ', make('bdi', {}, title(about.way)), where),
      make('span', {class: 'soft'}, marked(begins, pattern)),
    )
  }

  function foundTexts({count, documents, apart}, text) {
    if (!count) return []
    const {whole, begun} = host.readable?.() || {}
    const some = begun ? `, ${number(begun)} of them only as they begin` : ''
    const of = whole == null ? '' : ` of the ${number(whole + begun)} that are on this page${some}`
    const pattern = apart ? patternOfAny(text.split(/\s+/)) : patternOf(text)
    const what = apart ? 'All of these words are in' : 'In'
    return [
      make('h3', {'aria-level': 2}, `${what} the text of ${counted(count)}${of}`),
      documents.map(([i, about]) => foundDocument([i, about], pattern)),
    ]
  }

  const wanted = () => query.value.replace(POINT, '').trim()

  async function look() {
    const text = wanted()
    const answer = text ? await asked('find', text) : {words: [], documents: {}, named: 0, texts: {count: 0}}
    if (text !== wanted()) return
    if (answer instanceof Node) return showFound(answer)
    hits = answer.texts.rows ?? []
    map?.markFound(hits)
    marks.clear()
    if (answer.words.length) for (const [id, rank] of mostOf(answer.words[0][1])) marks.set(id, rank)
    const exact = ([, about]) => about.id.toLowerCase() === text.toLowerCase()
    const named = Object.entries(answer.documents).sort((a, b) => exact(b) - exact(a))
    const topics = text ? findTopics(text) : []
    const parts = [
      [
        topics.length > 0 && foundTopics(topics),
        answer.words.map(foundWord),
        named.map(document => foundDocument(document)),
        named.length > 0 && andMore(answer.named, named.length),
      ],
      foundTexts(answer.texts, text),
    ].map(part => part.flat().filter(Boolean))
    showFound(parts.filter(part => part.length).map(part => make('div', {}, part)))
    const nothing = text && !found.childElementCount && host.nothing(short(text, 100))
    if (nothing) found.append(nothing)
    found.hidden = !text
    const counts = [
      [topics.length, 'topic'],
      [answer.words.length, 'word'],
      [answer.named, 'document'],
      [answer.texts.count, 'text'],
    ]
    const told = counts.filter(([n]) => n).map(([n, what]) => `${number(n)} ${what}${n === 1 ? '' : 's'}`)
    fill(heard, text && (nothing || `found: ${told.join(', ')}`))
    drawTree()
  }

  async function openFirst() {
    const text = query.value
    clearTimeout(typed)
    await look()
    if (query.value === text) found.querySelector('button')?.click()
  }

  function close(event) {
    if (event.key !== 'Escape') return
    query.value = ''
    query.focus()
    look()
  }

  found.addEventListener('keydown', close)
  query.addEventListener('input', () => {
    clearTimeout(typed)
    typed = setTimeout(look, 120)
  })
  query.addEventListener('keydown', event => {
    own(event)
    close(event)
    if (event.key === 'ArrowDown') {
      event.preventDefault()
      const next = found.querySelector('button') || rowOf(state.selected)
      next.focus()
    }
    if (event.key === 'Enter' && !event.isComposing) {
      event.preventDefault() // it isn't for the button that has the focus then
      openFirst()
    }
  })

  // ---- Tools: the view, the number of leaves, folding all, files to save

  let mapped = false // is the map shown in place of the tree?
  const views = [
    ...(tree.levels.length > 0 ? [['Outline', true]] : []),
    ['All splits', false],
    ...(tree.splits.length > 0 ? [['Map', 'map']] : []),
  ].map(([name, what]) => [make('button', {onclick: () => turnTo(what)}, name), what])

  const leaves = make('output', {})
  const most = tree.splits.length + 1
  const slider = make('input', {type: 'range', min: 1, max: most, 'aria-label': 'number of leaves'})
  const cutter = make('label', {}, 'leaves', slider, leaves)

  function setView(outlined) {
    state.outline = outlined
    host.keep('outline')
    drawTools()
    drawTree()
  }

  function turnTo(what) {
    mapped = what === 'map'
    setView(mapped ? state.outline : what)
    if (mapped) openMap()
    choose(state.selected, {focus: false})
  }

  // The view as an address has it, and back; nothing is what a page begins with
  const viewed = () => (mapped ? 'map' : tree.levels.length > 0 && !state.outline ? 'splits' : '')

  function turnAs(view) {
    if (view === 'map' && tree.splits.length > 0) turnTo('map')
    if (view === 'splits') turnTo(false)
  }

  function grow(n) {
    state.leaves = n
    host.keep('leaves')
    drawTools()
  }

  function unfold(open) {
    state.unfolded = new Set(open ? view().inner() : [])
    if (!open) state.selected = ''
    host.keep('unfolded')
    host.keep('selected')
    drawAll()
  }

  function drawTools() {
    leaves.value = state.leaves
    slider.value = state.leaves
    cutter.hidden = state.outline || mapped
    for (const button of folders) button.hidden = mapped
    const shown = mapped ? 'map' : state.outline
    for (const [button, what] of views) button.setAttribute('aria-pressed', shown === what)
    place.classList.toggle('outlined', state.outline)
    place.classList.toggle('mapped', mapped)
  }

  // A step that leaves the tree as it is, such as a name
  function edited() {
    edits?.draw()
    if (drawn == null || naming) return
    fill(body.querySelector('.facts'), facts(drawn))
    body.querySelector('.head .menu')?.replaceWith(menuOf(drawn))
  }

  function drawAll() {
    drawTools()
    overview?.name()
    map?.name()
    drawTree()
    const id = state.selected
    if (shown(id)) drawNode()
    else choose(id, {focus: false})
  }

  const kinds = ['page', 'labels', 'topics', 'JSON'].map(what => [`save ${what}`, () => save(what)])
  const saver = menu('save', edits ? [...kinds, ['save model', edits.store]] : kinds)

  async function save(what) {
    const file = await asked('save', what)
    if (file instanceof Node) return showFound(file)
    const link = make('a', {download: file.name, href: URL.createObjectURL(new Blob([file.text], {type: file.type}))})
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 1000)
  }

  // What is unfolded stays so; what was split by the slider's move is unfolded, too. It is drawn when the browser draws.
  let drawing
  slider.addEventListener('input', () => {
    const before = state.leaves
    grow(+slider.value)
    for (const id of tree.splits.slice(before - 1, state.leaves - 1)) state.unfolded.add(id)
    host.keep('unfolded')
    cancelAnimationFrame(drawing)
    drawing = requestAnimationFrame(drawAll)
  })
  slider.addEventListener('keydown', own)

  // ---- Keys pressed here are not for JupyterLab, but for Ctrl+S; windows hear of keys before documents do. What has the
  // focus is marked: JupyterLab goes up from there, and takes a key for its own at the first element that a rule is about

  const suppress = 'data-lm-suppress-shortcuts'
  let muted
  const hear = event => {
    muted?.removeAttribute(suppress)
    muted = saving(event) || !place.contains(event.target) ? null : event.target
    muted?.setAttribute(suppress, 'true')
  }
  place.classList.add('nmf2')
  addEventListener('keydown', hear, true)
  const foldMenus = event => {
    if (event.type === 'keydown' && event.key !== 'Escape') return
    const inside = event.type === 'keydown' ? [] : event.composedPath()
    for (const menu of place.querySelectorAll('.menu[open]')) menu.open = inside.includes(menu)
  }
  for (const what of ['pointerdown', 'keydown']) addEventListener(what, foldMenus)

  // ---- Drawn for the first time

  const button = (name, act) => make('button', {onclick: act}, name)
  const folders = [button('unfold all', () => unfold(true)), button('fold all', () => unfold(false))]
  const tools = [
    query,
    views.length > 1 &&
      make(
        'div',
        {class: 'pair', role: 'group', 'aria-label': 'view'},
        views.map(view => view[0]),
      ),
    tree.splits.length > 0 && [cutter, folders],
    saver,
  ]
  fill(
    place,
    make('div', {class: 'bar-of-tools'}, tools),
    edits?.line,
    found,
    heard,
    make('div', {class: overview ? 'panes pictured' : 'panes'}, overview?.picture, rows, sea, pane),
  )
  drawAll()
  const arrive = () => {
    const {id, view} = host.visits.visited()
    if (isNarrow()) read(host.visits.isReading())
    turnAs(view)
    if (nodes.has(id)) choose(id, {reach: true})
  }
  host.visits?.onVisit(arrive)
  const {id, view: seenAs} = host.visits?.visited() ?? {}
  turnAs(seenAs)
  if (id && nodes.has(id)) choose(id, {reach: true, focus: false, open: true})
  if (before) resume(before)
  const end = () => {
    removeEventListener('keydown', hear, true)
    for (const what of ['pointerdown', 'keydown']) removeEventListener(what, foldMenus)
    cancelAnimationFrame(drawing)
    map?.leave()
    const focused = place.getRootNode().activeElement
    return {
      mapped,
      reading: isReading(),
      top: rows.scrollTop,
      focused: place.contains(focused),
      line: edits?.line.contains(focused),
    }
  }

  // Where one was: on the map or not, in which pane, and whether keys were pressed here
  function resume({mapped, reading, top, focused, line}) {
    if (mapped && tree.splits.length > 0) turnTo('map')
    read(reading)
    rows.scrollTop = top
    if (!mapped) seeChosen()
    if (!focused) return
    const pressed = line && edits?.line.querySelector('button')
    if (pressed) pressed.focus()
    else stay()
  }

  return {redraw: drawAll, edited, leave: end}
}
