// Changing a tree by menu, where a kernel runs: a menu beside the title of the topic chosen, boxes beside documents, and
// a line above the panes. The line says what was done, with undo, or what is to be chosen next. The kernel makes the
// steps, and says what is wrong with one.

// `at` gives the topic chosen, `title` what a topic is called, `isLeaf` whether it is a leaf of the whole tree;
// `redraw` draws the topic anew, `goOn` leads to the tree, where another one can be chosen, and `stay` to where one is
function drawEdits(host, {at, title, isLeaf, redraw, goOn, stay}) {
  const docs = new Set() // rows of documents that are chosen to be moved
  const boxes = new Map() // of the documents that are listed
  let task = null // what is being asked: {step}, and the topic where it began

  const said = make('span', {role: 'status'})
  const buttons = make('span', {class: 'steps'})
  const line = make('div', {class: 'edits', role: 'group', 'aria-label': 'changes'}, said, buttons)
  const button = (name, act) => make('button', {onclick: act}, name)

  // ---- Steps: if the tree is another one afterwards, the explorer is drawn anew, and this line with it

  async function ask(what, ...given) {
    fill(said, 'Working …')
    try {
      await host.ask(what, ...given)
      end()
    } catch (error) {
      draw()
      fill(said, sorry(error))
    }
  }

  const run = (step, given = {}) => ask('edit', step, given)
  const store = () => ask('store')

  // ---- The line

  const field = make('input', {type: 'text', 'aria-label': 'words to drop, with commas between', placeholder: 'words'})
  const cancel = button('cancel', () => end())

  const tasks = {
    merge: ({first}) => {
      const able = !first.startsWith(at()) && !at().startsWith(first) // one in the other can't be merged
      const both = () => run('merge', {a: first, b: at()})
      return [
        able
          ? `Merge “${title(first)}” with “${title(at())}”?`
          : `Merge “${title(first)}” with another topic: go there.`,
        [able && button('merge', both), cancel],
      ]
    },
    move: ({from}) => {
      const there = isLeaf(at()) && at() !== from
      const here = () => run('move', {docs: [...docs], node: at()})
      return [
        `${counted(docs.size)} chosen. ${there ? '' : 'Go to the leaf they belong in.'}`,
        [there && button(`move to “${title(at())}”`, here), cancel],
      ]
    },
    drop_words: () => ['Which words shall no topic have? Press them below, or write them:', [field, dropper, cancel]],
  }

  function lastStep() {
    const {told, undo, redo, file, saved} = host.editing
    return [
      told,
      [
        undo && button(`undo ${undo}`, () => run('undo')),
        redo && button(`redo ${redo}`, () => run('redo')),
        file && !saved && button(`save in ${file}`, store),
      ],
    ]
  }

  function draw() {
    const [what, controls] = task ? tasks[task.step](task) : lastStep()
    const focused = line.getRootNode().activeElement
    const here = buttons.contains(focused)
    if (said.textContent !== what) fill(said, what)
    fill(buttons, controls)
    if (!here) return
    const next = buttons.contains(focused) ? focused : buttons.querySelector('button')
    if (next) next.focus()
    else stay()
  }

  function begin(next) {
    task = next
    draw()
    redraw()
  }

  function end() {
    const dropping = task?.step === 'drop_words'
    task = null
    docs.clear()
    field.value = ''
    for (const box of boxes.values()) box.checked = false
    draw()
    if (dropping) redraw()
  }

  line.addEventListener('keydown', event => event.key === 'Escape' && task && end())

  // ---- Documents to be moved

  function choose(rows, on) {
    for (const i of rows) {
      if (on) docs.add(i)
      else docs.delete(i)
      if (boxes.has(i)) boxes.get(i).checked = on
    }
    if (!docs.size) task = null
    else if (task?.step !== 'move') task = {step: 'move', from: at()}
    draw()
  }

  function box(i, name) {
    const given = {type: 'checkbox', 'aria-label': `choose ${name}`, checked: docs.has(i)}
    boxes.set(i, make('input', {...given, onchange: event => choose([i], event.target.checked)}))
    return boxes.get(i)
  }

  // ---- Words to be dropped: those of the topic become buttons

  const wanted = () =>
    field.value
      .split(',')
      .map(word => word.trim())
      .filter(Boolean)

  const dropper = button('drop', () => run('drop_words', {words: wanted()}))

  function press(word) {
    const words = wanted()
    field.value = (words.includes(word) ? words.filter(other => other !== word) : [...words, word]).join(', ')
  }

  function words(pairs) {
    if (task?.step !== 'drop_words') return pairs
    const one = word => make('button', {class: 'link', onclick: () => press(word)}, word)
    return pairs.map(([word, weight]) => [one(word), weight])
  }

  field.addEventListener('keydown', event => {
    if (event.key === 'Enter' && !event.isComposing) dropper.click()
  })

  // ---- The menu of a topic

  const isKept = id => host.editing.kept.includes(id)

  function menuOf(id) {
    const merge = () => {
      begin({step: 'merge', first: id})
      goOn()
    }
    const drop = () => {
      begin({step: 'drop_words'})
      field.focus()
    }
    const keep = isKept(id) ? 'no longer keep' : 'keep as it is'
    const apart = ['split in two', () => run('split', {node: id})]
    const together = ['join its parts', () => run('join', {node: id})]
    const ofThis = [
      isLeaf(id) ? apart : together,
      ['merge with …', merge],
      [keep, () => run('keep', {node: id, on: !isKept(id)})],
    ]
    return menu('edit', [...(id ? ofThis : []), ['drop words …', drop], ['refit all topics', () => run('refit')]])
  }

  draw()
  return {line, menuOf, box, words, choose, store, isKept, draw}
}
