// The host of the explorer on a page: all answers are in the page, as JSON in the element `contents`. What is needed
// for the map and the search alone is in `map`, and read when somebody wants one of them.

// As `_around` in nmf2.page: what stands before and after the first hit, in whole words
function around(text, pattern, length = 200) {
  const hit = text.search(pattern)
  const start = Math.max(0, hit - 60)
  const end = start + length
  const [left, right] = [start > 0, end < text.length]
  const before = text.slice(start, hit).replace(left ? /^\S{0,30}\s/ : '', '')
  const after = text.slice(hit, end).replace(right ? /\s\S{0,30}$/ : '', '')
  const piece = (before + after).trim().replace(/\s+/g, ' ')
  return `${left ? '… ' : ''}${piece}${right ? ' …' : ''}`
}

const inPage = id => JSON.parse(document.getElementById(id).textContent)

function pageHost(all, readMap = () => inPage('map')) {
  const {words, ids, ways, sure, stays} = all.index
  const lower = ids.map(id => bare(id.toLowerCase()))
  const known = Object.keys(words).map(word => [bare(word.toLowerCase()), word])
  const kinds = ['typical', 'borderline', 'dropped']
  const begin = text => (text.length > 300 ? `${text.slice(0, 300).replace(/\s+\S*$/, '')} …` : text)
  let read // the map, when it has been read
  let begins
  function map() {
    read ||= readMap()
    begins ||= new Map(read.rows.map((i, k) => [i, read.begins[k]]))
    return read
  }
  function beginning(i) {
    map()
    return begins.get(i) || ''
  }
  const about = i => all.documents[i] || {id: short(ids[i], 100), labels: [], text: beginning(i)}

  const placed = i => ({
    ...about(i),
    way: all.tree.nodes[ways[i]].id,
    sure: sure[i] / 100,
    stays: stays?.[i] == null ? null : stays[i] / 100,
  })

  // ---- The search: words by their beginning, documents by a part of their name or by their number

  function findWords(wanted) {
    const begins = known.filter(([lower]) => lower.startsWith(wanted))
    const exact = ([lower]) => (lower === wanted ? 1 : 0)
    const topics = ([, word]) => words[word].length
    begins.sort((a, b) => exact(b) - exact(a) || topics(b) - topics(a))
    return begins.slice(0, 4).map(([, word]) => [short(word), words[word]])
  }

  // The one that is called so comes first
  function findDocuments(wanted) {
    const rows = lower.flatMap((id, i) => (id.includes(wanted) || wanted === String(i) ? [i] : []))
    const exact = i => lower[i] === wanted
    rows.sort((a, b) => exact(b) - exact(a))
    return {documents: Object.fromEntries(rows.slice(0, 8).map(i => [i, placed(i)])), named: rows.length}
  }

  // The texts that are here, and how the others begin, as far as the map says it
  let readable
  function readableTexts() {
    if (readable) return readable
    const whole = Object.entries(all.documents).flatMap(([i, {text}]) => (text ? [[+i, text]] : []))
    const rows = map().rows.filter(i => !all.documents[i]?.text && beginning(i))
    readable = {whole: whole.length, begun: rows.length, texts: [...whole, ...rows.map(i => [i, beginning(i)])]}
    return readable
  }

  // Those that have all of some words, those first in which there are most hits of a pattern
  function textsWith(words, pattern) {
    const each = words.map(patternOf)
    const hits = ([i, text]) => [i, each.every(word => text.search(word) >= 0) ? text.match(pattern).length : 0]
    const found = readableTexts()
      .texts.map(hits)
      .filter(hit => hit[1] > 0)
    found.sort((a, b) => b[1] - a[1])
    const told = ([i]) => [i, {...placed(i), text: around(about(i).text || beginning(i), pattern)}]
    return {count: found.length, rows: found.map(([i]) => i), documents: found.slice(0, 8).map(told)}
  }

  // Texts that have what is wanted as it stands, or if there is none, its words anywhere
  function findTexts(wanted) {
    if (isTooShort(wanted)) return {count: 0, rows: [], documents: []}
    const whole = textsWith([wanted], patternOf(wanted))
    const words = wanted.split(/\s+/)
    if (whole.count || words.length < 2) return whole
    return {...textsWith(words, patternOfAny(words)), apart: true}
  }

  // ---- Names, and files to save

  const state = {...all.view, unfolded: new Set(all.view.unfolded)}
  const still = document.querySelector('#nmf2 noscript')
  const files = {
    page: () => ({name: 'tree.html', type: 'text/html', text: pageAgain(all, state, still)}),
    labels: () => ({name: 'labels.csv', type: 'text/csv', text: labelsTable(all, state)}),
    topics: () => ({name: 'topics.csv', type: 'text/csv', text: topicsTable(all, state)}),
    JSON: () => ({name: 'tree.json', type: 'application/json', text: treeJson(all, state)}),
  }

  // Names are kept on the page; who goes away without having saved them is asked
  let unsaved = false
  addEventListener('beforeunload', event => unsaved && event.preventDefault())

  // ---- The page's address says which topic is chosen, and the view, as in #01/map. A pane that takes the place of the
  // tree is left by going back, too.

  let last = ''
  function visit(id, view, opens) {
    last = view
    const address = `${location.href.split('#')[0]}#${id}${view && `/${view}`}`
    const way = opens && !history.state?.pane ? 'pushState' : 'replaceState'
    try {
      history[way](opens ? {pane: true} : history.state, '', address)
    } catch {} // there are browsers that allow a hundred in half a minute
  }

  // Whoever closes the pane goes back, too, but stays at the topic, so that going back once more leads further
  let closing = false
  const isReading = () => Boolean(history.state?.pane)
  function close() {
    closing = isReading()
    if (closing) history.back()
  }
  const onVisit = act =>
    addEventListener('popstate', () => {
      if (closing) visit(state.selected, last)
      else act()
      closing = false
    })
  function visited() {
    const [id, view] = location.hash.slice(1).split('/')
    return {id, view}
  }
  const visits = {visit, visited, isReading, close, onVisit}

  // ---- The answers

  const answers = {
    details: id => {
      const node = all.nodes[id]
      const rows = kinds.flatMap(kind => node[kind])
      const documents = rows.map(i => [i, {...about(i), text: begin(about(i).text)}])
      return {...node, documents: Object.fromEntries(documents)}
    },
    text: i => all.documents[i]?.text || '',
    map: () => ({...map(), names: map().rows.map(i => short(ids[i], 100))}),
    words: () => map(),
    documents: rows => rows.map(i => [i, placed(i)]),
    rename: () => {
      unsaved = true
    },
    save: what => {
      unsaved &&= what !== 'page' // from which alone they come back
      return files[what]()
    },
    find: text => {
      const wanted = text.toLowerCase()
      return {words: findWords(bare(wanted)), ...findDocuments(bare(wanted)), texts: findTexts(wanted)}
    },
  }
  const texts = Object.values(all.documents).filter(document => document.text).length
  const otherwise = begun => (begun ? `, nor in how the other ${number(begun)} begin` : '')
  return {
    tree: all.tree,
    state,
    keep: () => {},
    visits,
    ask: async (what, ...given) => answers[what](...given),
    readable: readableTexts,
    none: texts ? '(Only texts that are listed at some topic are on this page.)' : '(There are no texts.)',
    nothing: text =>
      `No document or topic is called “${text}”, and no word that begins so is among the first hundred of a topic.` +
      (texts && !isTooShort(text)
        ? ` It isn't in the first ${number(all.length)} letters of the ${number(texts)} texts on this page` +
          `${otherwise(readableTexts().begun)}.`
        : ''),
  }
}

explore(document.getElementById('nmf2'), pageHost(inPage('contents')))
