// The host of the explorer on a page: all answers are in the page, as JSON in the element `contents`.

function pageHost(all) {
  const {words, ids, ways} = all.index
  const lower = ids.map(id => id.toLowerCase())
  const known = Object.keys(words).map(word => [word.toLowerCase(), word])
  const kinds = ['typical', 'borderline', 'dropped']
  const begin = text => (text.length > 300 ? `${text.slice(0, 300).replace(/\s+\S*$/, '')} …` : text)
  const about = i => all.documents[i] || {id: short(ids[i], 100), labels: [], text: ''}

  // ---- The search: words by their beginning, documents by a part of their name or by their number

  function findWords(wanted) {
    const begins = known.filter(([lower]) => lower.startsWith(wanted))
    const exact = ([lower]) => (lower === wanted ? 1 : 0)
    const topics = ([, word]) => words[word].length
    begins.sort((a, b) => exact(b) - exact(a) || topics(b) - topics(a))
    return begins.slice(0, 4).map(([, word]) => [short(word), words[word]])
  }

  function findDocuments(wanted) {
    const rows = lower.flatMap((id, i) => (id.includes(wanted) || wanted === String(i) ? [i] : []))
    const way = i => all.tree.nodes[ways[i]].id
    return Object.fromEntries(rows.slice(0, 8).map(i => [i, {...about(i), way: way(i)}]))
  }

  // ---- The answers

  const answers = {
    details: id => {
      const node = all.nodes[id]
      const rows = kinds.flatMap(kind => node[kind])
      const documents = rows.map(i => [i, {...about(i), text: begin(about(i).text)}])
      return {...node, documents: Object.fromEntries(documents)}
    },
    text: i => about(i).text,
    find: text => {
      const wanted = text.toLowerCase()
      return {words: findWords(wanted), documents: findDocuments(wanted)}
    },
  }
  const texts = Object.values(all.documents).some(document => document.text)
  return {
    tree: all.tree,
    state: {...all.view, unfolded: new Set(all.view.unfolded)},
    keep: () => {},
    ask: async (what, about) => answers[what](about),
    none: texts ? '(Only texts that are listed at some topic are on this page.)' : '(There are no texts.)',
    nothing: text =>
      `No document is called “${text}”, and no word that begins so is among the first hundred of a topic.`,
  }
}

explore(document.getElementById('nmf2'), pageHost(JSON.parse(document.getElementById('contents').textContent)))
