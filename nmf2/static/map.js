// The map: each document a dot in the island of its topic. Who points at a dot sees the document, a click chooses its
// topic, and a line drawn around some dots lists their documents. The keys go from island to island.

// A ray from a point inside a closed line crosses it an odd number of times
function isInside(x, y, line) {
  let inside = false
  let [a, b] = line.at(-1)
  for (const [c, d] of line) {
    const beside = d > y !== b > y
    if (beside && x < ((a - c) * (y - d)) / (b - d) + c) inside = !inside
    a = c
    b = d
  }
  return inside
}

// Words that chosen documents have more often than all have, with how many of the chosen have each: what a word adds
// to the difference of the two, as `distinction` in nmf2.headings
function tellingWords(map, chosen, n = 15) {
  const all = new Float64Array(map.words.length)
  const here = new Float64Array(map.words.length)
  for (const keys of map.keys) for (const j of keys) all[j] += 1
  for (const k of chosen) for (const j of map.keys[k]) here[j] += 1
  const expected = chosen.length / map.keys.length
  const least = chosen.length > 3 ? 2 : 1
  const telling = j => here[j] * Math.log(here[j] / (all[j] * expected))
  const oftener = j => here[j] >= least && here[j] > all[j] * expected
  const able = map.words.map((_, j) => j).filter(oftener)
  able.sort((i, j) => telling(j) - telling(i) || i - j)
  return able.slice(0, n).map(j => [map.words[j], here[j]])
}

// `hueOf` gives the colour of a topic, `told` its title; `choose` is called with a topic, and a dot if it was one that
// was clicked, `pick` with the dots that a line was drawn around
function drawMap(map, {hueOf, told, choose, pick}) {
  const canvas = make('canvas', {})
  const over = make('canvas', {}) // what moves: the line, and rings around dots
  const tip = make('div', {class: 'tip', hidden: true})
  const labels = map.islands.map(([id, , , , group]) => {
    const described = {
      class: 'island',
      role: 'option',
      'data-island': id,
      tabindex: -1,
      style: `--hue:${hueOf(id, group)}`,
    }
    return make('div', described, make('b', {}))
  })
  const land = make('div', {class: 'land', role: 'listbox', 'aria-label': 'map of the documents'}, labels)
  const element = make('div', {class: 'sea'}, canvas, land, over, tip)
  const islandOf = new Map(map.islands.map((island, k) => [island[0], k]))
  const dotOf = new Map(map.rows.map((row, k) => [row, k]))
  const n = map.rows.length
  let selected = ''
  let picked = new Set()
  let found = [] // dots
  let ringed = -1
  let line = null
  let k = 1 // pixels a unit of the map
  let left = 0
  let top = 0
  let size = 1

  const x = i => left + k * map.x[i]
  const y = i => top + k * map.y[i]
  const isBright = i => (picked.size ? picked.has(i) : map.islands[map.island[i]][0].startsWith(selected))

  // ---- Drawing

  function fit() {
    const [wide, high] = [element.clientWidth, element.clientHeight]
    const margin = 6
    k = Math.max(0, Math.min((wide - 2 * margin) / map.width, (high - 2 * margin) / map.height))
    left = (wide - k * map.width) / 2
    top = (high - k * map.height) / 2
    const area = map.islands.reduce((sum, [, , , r]) => sum + Math.PI * (k * r) ** 2, 0)
    size = Math.min(7, Math.max(0.8, 0.72 * Math.sqrt(area / Math.max(n, 1))))
    for (const each of [canvas, over]) {
      each.width = Math.round(wide * devicePixelRatio)
      each.height = Math.round(high * devicePixelRatio)
    }
    map.islands.forEach(([, cx, cy, r], i) => {
      const [d, lx, ly] = [2 * k * r, left + k * (cx - r), top + k * (cy - r)]
      labels[i].style.cssText += `;left:${lx}px;top:${ly}px;width:${d}px;height:${d}px`
    })
  }

  function pen(which) {
    const context = which.getContext('2d')
    context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0)
    context.clearRect(0, 0, which.width, which.height)
    return context
  }

  function add(path, i, size) {
    if (size < 3) return path.rect(x(i) - size / 2, y(i) - size / 2, size, size)
    path.moveTo(x(i) + size / 2, y(i))
    path.arc(x(i), y(i), size / 2, 0, 7)
  }

  function drawDots() {
    const context = pen(canvas)
    const colours = labels.map(label => getComputedStyle(label).color)
    for (const bright of [false, true]) {
      context.globalAlpha = bright ? 1 : 0.22
      const paths = labels.map(() => new Path2D())
      for (let i = 0; i < n; i++) {
        if (isBright(i) === bright) add(paths[map.island[i]], i, size)
      }
      paths.forEach((path, j) => {
        context.fillStyle = colours[j]
        context.fill(path)
      })
    }
    const path = new Path2D()
    for (const i of found) add(path, i, size + 1)
    context.fillStyle = getComputedStyle(element).color
    context.fill(path)
  }

  function drawOver(hovered = -1) {
    const context = pen(over)
    context.strokeStyle = getComputedStyle(element).color
    context.lineWidth = 1.5
    for (const i of [ringed, hovered]) {
      if (i < 0) continue
      context.beginPath()
      context.arc(x(i), y(i), size / 2 + 3, 0, 7)
      context.stroke()
    }
    if (!line) return
    context.beginPath()
    for (const point of line) context.lineTo(...point)
    context.closePath()
    context.globalAlpha = 0.1
    context.fillStyle = context.strokeStyle
    context.fill()
    context.globalAlpha = 1
    context.setLineDash([4, 3])
    context.stroke()
  }

  function draw() {
    fit()
    drawDots()
    drawOver()
  }

  function name() {
    map.islands.forEach(([id], i) => {
      const {title, spoken} = told(id)
      labels[i].setAttribute('aria-label', spoken)
      const lines = title.split(', ')
      fill(
        labels[i].firstChild,
        lines.map(line => make('span', {}, line)),
      )
    })
  }

  // ---- Pointing, clicking, drawing a line

  const at = event => {
    const {left, top} = over.getBoundingClientRect()
    return [event.clientX - left, event.clientY - top]
  }

  function nearest([px, py], within = 9) {
    let [best, least] = [-1, within ** 2]
    for (let i = 0; i < n; i++) {
      const far = (x(i) - px) ** 2 + (y(i) - py) ** 2
      if (far < least) [best, least] = [i, far]
    }
    return best
  }

  const islandAt = ([px, py]) =>
    map.islands.findIndex(([, cx, cy, r]) => Math.hypot(left + k * cx - px, top + k * cy - py) < k * r)

  function showTip(i, [px, py] = []) {
    tip.hidden = i < 0
    if (i < 0) return
    const keys = map.keys?.[i] || []
    const begins = map.begins[i] || keys.map(j => map.words[j]).join(', ')
    const topic = told(map.islands[map.island[i]][0]).title
    fill(tip, make('b', {}, map.names[i]), make('span', {}, topic), make('span', {class: 'soft'}, begins))
    const [wide, high] = [element.clientWidth, element.clientHeight]
    const tx = Math.max(2, Math.min(px + 12, wide - tip.offsetWidth - 2))
    const ty = py + 16 + tip.offsetHeight < high ? py + 16 : py - 10 - tip.offsetHeight
    tip.style.cssText = `left:${tx}px;top:${Math.max(2, ty)}px`
  }

  function hover(event) {
    if (event.pointerType === 'touch') return
    const i = nearest(at(event))
    showTip(i, at(event))
    drawOver(i)
  }

  function move(event) {
    if (!line) return hover(event)
    line.push(at(event))
    drawOver()
  }

  const isDrawn = line => line.some(([px, py]) => Math.hypot(px - line[0][0], py - line[0][1]) > 8)

  function inside(line) {
    const found = []
    for (let i = 0; i < n; i++) if (isInside(x(i), y(i), line)) found.push(i)
    return found
  }

  function up(event) {
    if (!line) return
    const drawn = line
    line = null
    drawOver()
    const i = nearest(at(event))
    const island = i < 0 ? islandAt(at(event)) : map.island[i]
    reach(labels[island] ?? labels.find(label => label.tabIndex === 0)) // so that keys go on from here
    if (isDrawn(drawn)) pick(inside(drawn))
    else if (island >= 0) choose(map.islands[island][0], i)
    else pick([])
  }

  over.addEventListener('pointerdown', event => {
    if (event.button) return
    over.setPointerCapture(event.pointerId)
    line = [at(event)]
    showTip(-1)
  })
  over.addEventListener('pointermove', move)
  over.addEventListener('pointerup', up)
  over.addEventListener('pointercancel', () => {
    line = null
    drawOver()
  })
  over.addEventListener('pointerleave', () => {
    showTip(-1)
    drawOver()
  })

  // ---- Keys: an arrow leads to the next island in its direction

  const reach = label => label.focus({preventScroll: true})
  const ways = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]}

  function beyond(i, [dx, dy]) {
    const cost = ([, cx, cy]) => {
      const [right, down] = [cx - map.islands[i][1], cy - map.islands[i][2]]
      const along = right * dx + down * dy
      const aside = Math.abs(right * dy) + Math.abs(down * dx)
      return along > 0 && aside < 2 * along ? along + 2 * aside : Number.POSITIVE_INFINITY
    }
    const costs = map.islands.map(cost)
    const least = Math.min(...costs)
    return least < Number.POSITIVE_INFINITY ? costs.indexOf(least) : i
  }

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const i = islandOf.get(event.target.dataset.island)
    const keys = {Home: 0, End: labels.length - 1, Enter: i, ' ': i}
    if (event.key in ways) keys[event.key] = beyond(i, ways[event.key])
    if (event.key === 'Escape') pick([])
    if (!(event.key in keys)) return
    event.preventDefault()
    reach(labels[keys[event.key]])
    choose(map.islands[keys[event.key]][0], -1, event.key === 'Enter')
  }

  land.addEventListener('keydown', press)

  // ---- What was chosen elsewhere: a topic, whose dots are bright; a document, with a ring; several, which are bright.
  // What was found is in the colour of the letters.

  function mark(id, row = -1) {
    const around = map.islands.find(([island]) => id.startsWith(island))
    selected = around?.[0] ?? id // a topic that is too small for the map is part of an island
    ringed = dotOf.get(row) ?? -1
    picked = new Set()
    const reached =
      islandOf.get(selected) ??
      Math.max(
        0,
        map.islands.findIndex(island => island[0].startsWith(selected)),
      )
    labels.forEach((label, i) => {
      label.setAttribute('aria-selected', map.islands[i][0] === selected)
      label.tabIndex = i === reached ? 0 : -1
    })
    drawDots()
    drawOver()
  }

  function markPicked(dots) {
    picked = new Set(dots)
    ringed = -1
    drawDots()
    drawOver()
  }

  function markFound(rows) {
    found = rows.flatMap(row => dotOf.get(row) ?? [])
    drawDots()
  }

  // Of some dots those first that are in the middle of their islands
  function fromTheMiddle(dots) {
    const far = i => {
      const [, cx, cy, r] = map.islands[map.island[i]]
      return Math.hypot(map.x[i] - cx, map.y[i] - cy) / r
    }
    return [...dots].sort((i, j) => far(i) - far(j) || i - j)
  }

  const dark = matchMedia('(prefers-color-scheme: dark)')
  const sized = new ResizeObserver(draw)
  const printing = event => {
    element.classList.toggle('printed', event.type === 'beforeprint')
    draw()
  }
  for (const what of ['beforeprint', 'afterprint']) addEventListener(what, printing)
  dark.addEventListener('change', draw)
  sized.observe(element)
  name()
  const leave = () => {
    sized.disconnect()
    for (const what of ['beforeprint', 'afterprint']) removeEventListener(what, printing)
    dark.removeEventListener('change', draw)
  }
  return {element, name, mark, markPicked, markFound, fromTheMiddle, leave}
}
