// Two views of a tree: all its splits, up to a number of leaves, and an outline of it.
// Both say which nodes they have, which are above a node, from the root on, and which parts it has.

function splitsView(tree, state) {
  const order = new Map(tree.splits.map((id, k) => [id, k]))
  const splits = id => order.has(id) && order.get(id) < state.leaves - 1
  const above = id => Array.from(id, (_, k) => id.slice(0, k))
  return {
    above,
    has: id => above(id).every(splits),
    parts: id => (splits(id) ? [`${id}0`, `${id}1`] : []),
    number: id => order.get(id) + 1, // of a split, from 1
    inner: () => tree.splits.slice(0, state.leaves - 1),
  }
}

// The leaves of the tree when there were `n`, from left to right
function cut(tree, n) {
  const split = new Set(tree.splits.slice(0, n - 1))
  const ends = ({id}) => !split.has(id) && (!id || split.has(id.slice(0, -1)))
  return tree.nodes.filter(ends)
}

// Nested cuts: inside a node of one those nodes of the next that are below it, the largest first.
// A node that the next cut leaves as it is has no row of its own there.
function outlineView(tree) {
  const cuts = tree.levels.map(n => cut(tree, n))
  const parts = new Map()
  const above = new Map([['', []]])
  function fill(id, depth) {
    if (depth === cuts.length) return
    const inside = cuts[depth].filter(node => node.id.startsWith(id))
    if (inside.length > 1) {
      inside.sort((a, b) => b.size - a.size)
      parts.set(
        id,
        inside.map(node => node.id),
      )
      for (const node of inside) above.set(node.id, [...above.get(id), id])
    }
    for (const node of inside) fill(node.id, depth + 1)
  }
  fill('', 0)
  return {
    above: id => above.get(id),
    has: id => above.has(id),
    parts: id => parts.get(id) || [],
    inner: () => [...parts.keys()],
  }
}
