// What can be taken along from a page: tables of documents and of topics, the tree as JSON, and the page itself.

// A text that begins like a formula gets an apostrophe in front, as in the tables that nmf2 writes
const plainCell = value => (typeof value === 'string' && !/^[\p{L}\p{N}]/u.test(value) ? `'${value}` : String(value))
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

function labelsTable(all, {names, leaves}) {
  const tree = all.tree
  const ends = cut(tree, leaves)
  const numbers = labelsAt(all, ends)
  const levels = tree.levels.map(n => cut(tree, n)).map(cut => [cut, labelsAt(all, cut)])
  const title = node => node && titleOf(node, names)
  const row = (id, i) => {
    const leaf = ends[numbers[i]]
    const titles = levels.map(([cut, numbers]) => title(cut[numbers[i]]))
    return line([id, leaf && inTable(leaf.id), numbers[i], title(leaf), ...titles])
  }
  const head = ['id', 'leaf', 'leaf_number', 'title', ...tree.levels.map(n => `title_${n}`)]
  return line(head) + all.index.ids.map(row).join('')
}

function topicsTable(all, {names}) {
  const looked = all.tree.weak != null // how well topics are found again
  const row = node => {
    const {id, size, dropped, terms, support} = node
    const sizes = [size, dropped, ...(looked ? [support] : [])]
    const parent = id ? inTable(id.slice(0, -1)) : null
    return line([inTable(id), parent, ...sizes, names[id] || null, titleOf(node, names), terms.join(' ')])
  }
  const sizes = ['documents', 'dropped', ...(looked ? ['support'] : [])]
  const head = ['node', 'parent', ...sizes, 'name', 'title', 'words']
  return line(head) + all.tree.nodes.map(row).join('')
}

// As `Tree.to_json` has it, with the words that are on the page
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
  const entry = ({id, heading, size, score, support}, k) => ({
    id,
    name: names[id] || null,
    heading: heading || null,
    size,
    score,
    ...(looked ? {support: support ?? null} : {}),
    children: inner.has(id) ? [`${id}0`, `${id}1`] : [],
    terms: all.nodes[id].terms,
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
  const place = make('div', {id: 'nmf2'}, still.cloneNode(true))
  page.querySelector('#nmf2').replaceWith(place)
  return `<!DOCTYPE html>\n${page.outerHTML}\n`
}
