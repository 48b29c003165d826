// What can be taken along from a page: tables of documents and of topics, the tree as JSON, and the page itself.

// As `as_cell` in nmf2.formats: a text that programs take for something else, such as a formula, a number or a date, gets
// an apostrophe in front. VALUES and DATES are those of that module.
function isPlain(text) {
  if (!/^[\p{L}0-9]/u.test(text)) return false
  if (!/\p{Nd}/u.test(text)) return text.length > 12 || !VALUES.includes(text.trim().toLowerCase())
  if (/^(0|[1-9][0-9]{0,14}|[A-Za-z][-_]?[0-9]+)$/.test(text)) return true
  if (/^0x/i.test(text)) return false
  return (text.match(/[\p{L}\p{Nl}\p{No}]{2,}/gu) || []).some(word => !DATES.includes(word.toLowerCase()))
}

function plainCell(value) {
  if (typeof value !== 'string') return String(value)
  const text = value.replaceAll('\0', '\\x00')
  return isPlain(text) ? text : `'${text}`
}

const quoted = text => (/[",;\p{Cc}\u2028\u2029]|^ | $/u.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
const line = cells => `${cells.map(cell => (cell == null ? '' : quoted(plainCell(cell)))).join(',')}\n`
const inTable = id => (id ? `root/${id}` : 'root')

// The number of the leaf in which each document is when the tree is cut, -1 for none
function labelsAt(all, cut) {
  const leafOf = id => cut.findIndex(leaf => id.startsWith(leaf.id))
  const numbers = all.tree.nodes.map(node => leafOf(node.id))
  const dropped = new Set(all.index.dropped)
  const isThere = (k, i) => numbers[k] >= 0 && !(dropped.has(i) && cut[numbers[k]].id === all.tree.nodes[k].id)
  return all.index.ways.map((k, i) => (isThere(k, i) ? numbers[k] : -1))
}

function labelsTable(all, {names, outline, leaves}) {
  const tree = all.tree
  const ends = cut(tree, outline ? tree.levels.at(-1) : leaves)
  const numbers = labelsAt(all, ends)
  const levels = tree.levels.map(n => cut(tree, n)).map(cut => [cut, labelsAt(all, cut)])
  const title = node => node && titleOf(node, names)
  const row = (id, i) => {
    const leaf = ends[numbers[i]]
    const titles = levels.map(([cut, numbers]) => title(cut[numbers[i]]))
    return line([i, id, leaf && inTable(leaf.id), numbers[i], title(leaf), ...titles])
  }
  const head = ['row', 'id', 'leaf', 'leaf_number', 'title', ...tree.levels.map(n => `title_${n}`)]
  return line(head) + all.index.ids.map(row).join('')
}

function topicsTable(all, {names}) {
  const looked = all.tree.weak != null // how well topics are found again
  const row = node => {
    const {id, size, dropped, terms, support} = node
    const sizes = [size, dropped, ...(looked ? [support && Math.round(1000 * support) / 1000] : [])]
    const parent = id ? inTable(id.slice(0, -1)) : null
    return line([inTable(id), parent, ...sizes, names[id] || null, titleOf(node, names), terms.join(' ')])
  }
  const sizes = ['documents', 'dropped', ...(looked ? ['support'] : [])]
  const head = ['node', 'parent', ...sizes, 'name', 'title', 'words']
  return line(head) + all.tree.nodes.map(row).join('')
}

// As `Tree.to_json` has it, with the words that are on the page; where they are looked for, long ones are whole
function treeJson(all, {names}) {
  const {n_docs, n_terms, levels, splits} = all.tree
  const dropped = new Set(all.index.dropped)
  const [docs, outliers] = [false, true].map(out => {
    const lists = all.tree.nodes.map(() => [])
    all.index.ways.forEach((k, i) => {
      if (dropped.has(i) === out) lists[k].push(all.index.ids[i])
    })
    return lists
  })
  const inner = new Set(splits)
  const looked = all.tree.weak != null
  const ranks = Object.entries(all.index.words)
  const whole = new Map(ranks.flatMap(([word, list]) => list.map(([id, rank]) => [`${id} ${rank}`, word])))
  const entry = ({id, heading, size, score, support}, k) => ({
    id,
    name: names[id] || null,
    heading: heading || null,
    size,
    score,
    ...(looked ? {support: support ?? null} : {}),
    children: inner.has(id) ? [`${id}0`, `${id}1`] : [],
    terms: all.nodes[id].terms.map(([word, weight], k) => [whole.get(`${id} ${k + 1}`) ?? word, weight]),
    outliers: outliers[k],
    docs: inner.has(id) ? null : docs[k],
  })
  const about = {format: 'nmf2 tree', version: 1, n_docs, n_terms, n_leaves: splits.length + 1, levels}
  return JSON.stringify({...about, splits, nodes: all.tree.nodes.map(entry)}, null, 1)
}

// The page as it is seen: what it was made of, with another view
function pageAgain(all, state, still) {
  const page = document.documentElement.cloneNode(true)
  const view = {...state, unfolded: [...state.unfolded]}
  const data = JSON.stringify({...all, view}).replaceAll('<', '\\u003c')
  page.querySelector('#contents').textContent = data
  const place = make('main', {id: 'nmf2'}, still.cloneNode(true))
  page.querySelector('#nmf2').replaceWith(place)
  return `<!DOCTYPE html>\n${page.outerHTML}\n`
}
