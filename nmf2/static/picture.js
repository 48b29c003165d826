// The outline as a picture: a column for each level, parts as high as their documents are many, in the colour of
// their branch. Whoever sees a topic there can click on it.

const top1 = (outline, id) => [...outline.above(id), id][1] // the branch that a node of the outline belongs to

// The colour of each branch of the outline, as a hue in degrees
function huesOf(outline) {
  const branches = outline.parts('')
  return new Map(branches.map((id, k) => [id, Math.round((215 + (360 * k) / branches.length) % 360)]))
}

// Where each part is: in which column, and from where to where, as shares of the height
function layout(outline, size) {
  const places = []
  function fill(id, level, start, height) {
    const parts = outline.parts(id)
    const total = parts.reduce((sum, part) => sum + size(part), 0)
    let from = start
    for (const part of parts) {
      const high = (height * size(part)) / Math.max(total, 1)
      places.push({id: part, level, from, high})
      fill(part, level + 1, from, high)
      from += high
    }
  }
  fill('', 0, 0, 1)
  return places
}

// The picture; `told` says of a node its title and its size, `choose` is called when somebody wants to see one
function drawPicture(outline, size, told, choose) {
  const places = layout(outline, size)
  const columns = Math.max(...places.map(place => place.level)) + 1
  const hues = huesOf(outline)
  const share = x => `${(100 * x).toFixed(3)}%`

  function part({id, level, from, high}) {
    const end = outline.parts(id).length ? 1 : columns - level // the last one goes to the margin
    const across = `left:${share(level / columns)};width:${share(end / columns)}`
    const style = `${across};top:${share(from)};height:${share(high)};--high:${high.toFixed(5)};--hue:${hues.get(top1(outline, id))}`
    const described = {class: 'part', role: 'treeitem', 'data-part': id, 'aria-level': level + 1, tabindex: -1, style}
    return make('div', described, make('b', {}), ' ', make('span', {class: 'soft'}))
  }

  const parts = new Map(places.map(place => [place.id, part(place)]))
  const at = new Map(places.map(place => [place.id, place]))
  const picture = make('div', {class: 'picture', role: 'tree', 'aria-label': 'overview'}, [...parts.values()])

  function name() {
    for (const [id, element] of parts) {
      const {title, about, brief, spoken} = told(id)
      element.title = `${title}\n${about}`
      element.setAttribute('aria-label', spoken)
      fill(element.firstChild, title)
      fill(element.lastChild, brief)
    }
  }

  function mark(id) {
    for (const [other, element] of parts) {
      element.setAttribute('aria-selected', other === id)
      element.tabIndex = -1
    }
    const reached = parts.get(id) || picture.firstChild
    reached.tabIndex = 0
  }

  function go(id, open = false) {
    if (id == null || !parts.has(id)) return
    parts.get(id).focus({preventScroll: true})
    choose(id, open)
  }

  function press(event) {
    const id = event.target.dataset.part
    const {level} = at.get(id)
    const column = places.filter(place => place.level === level).map(place => place.id)
    const k = column.indexOf(id)
    const keys = {
      ArrowDown: column[k + 1],
      ArrowUp: column[k - 1],
      Home: column[0],
      End: column.at(-1),
      ArrowRight: outline.parts(id)[0],
      ArrowLeft: outline.above(id).at(-1),
      Enter: id,
    }
    const other = event.ctrlKey || event.metaKey || event.altKey
    if (other || !(event.key in keys)) return
    event.preventDefault()
    go(keys[event.key], event.key === 'Enter')
  }

  picture.addEventListener('keydown', press)
  picture.addEventListener('click', event => go(event.target.closest('[data-part]')?.dataset.part, true))
  return {picture, name, mark}
}
