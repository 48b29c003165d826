// The host of the explorer in a notebook: questions are sent to a running kernel, and the state is shared with it.

// ---- Questions: each goes out with a number, and the answer with the same number belongs to it

const GONE = 'The kernel does not know this explorer any more: run its cell again.'

// Our names, and the kernel's
const SHARED = {
  selected: 'selected',
  outline: 'outline',
  leaves: 'n_leaves',
  unfolded: 'unfolded',
}

function kernelHost(model) {
  const waiting = new Map()
  const view = Math.random().toString(36) // a second view of the same widget has numbers of its own
  let asked = 0

  function answered(answer) {
    const call = waiting.get(answer.call)
    waiting.delete(answer.call)
    if (!call) return
    if ('error' in answer) call.reject(new Error(answer.error))
    else call.resolve(answer.answer)
  }

  function ask(what, ...given) {
    asked += 1
    const call = view + asked
    return new Promise((resolve, reject) => {
      waiting.set(call, {resolve, reject})
      try {
        model.send({call, ask: what, given})
      } catch {
        reject(new Error(GONE))
      }
    })
  }

  const host = {
    tree: model.get('about'),
    state: stateOf(model),
    ask,
    more: true,
    editing: model.get('editing'),
    none: '(There is no text.)',
    nothing: text =>
      `No word begins with “${text}”, ` +
      (isTooShort(text)
        ? 'and no document or topic is called so.'
        : 'no document or topic is called so, and no text has it.'),
    leave: () => model.off('msg:custom', answered),
  }
  host.keep = name => {
    const value = host.state[name]
    host.keeping = true
    model.set(SHARED[name], name === 'unfolded' ? [...value] : value)
    host.keeping = false
    model.save_changes()
  }
  if ('told' in host.editing) host.drawEdits = drawEdits
  model.on('msg:custom', answered)
  return host
}

function stateOf(model) {
  const state = {names: model.get('names')}
  for (const name in SHARED) state[name] = model.get(SHARED[name])
  state.unfolded = new Set(state.unfolded)
  return state
}

// ---- Drawing: what the kernel or another view changed is drawn; what this view changed itself is left alone

// In one order, as the kernel has its own, and without names that were taken back
const plain = state => ({
  ...state,
  unfolded: [...state.unfolded].sort(),
  names: Object.entries(state.names)
    .filter(([, name]) => name)
    .sort(),
})

function render({model, el}) {
  let host
  let view

  function begin() {
    host?.leave()
    const before = view?.leave()
    host = kernelHost(model)
    el.style.setProperty('--height', model.get('height'))
    view = explore(el, host, before)
  }

  // Several values may come at once: while the tree is not the one that is drawn, another will be drawn presently
  const isOld = () => JSON.stringify(model.get('about')) !== JSON.stringify(host.tree)
  const said = (state, name) => JSON.stringify(plain(state)[name])

  function changed() {
    if (host.keeping || isOld()) return
    const theirs = stateOf(model)
    const same = name => said(host.state, name) === said(theirs, name)
    if (Object.keys(theirs).every(same)) return
    Object.assign(host.state, theirs)
    view.redraw()
  }

  function edited() {
    host.editing = model.get('editing')
    if (!isOld()) view.edited()
  }

  begin()
  const names = ['names', ...Object.values(SHARED)].map(name => `change:${name}`).join(' ')
  model.on(names, changed)
  model.on('change:about', begin)
  model.on('change:editing', edited)
  return () => {
    host.leave()
    view.leave()
    model.off(names, changed)
    model.off('change:about', begin)
    model.off('change:editing', edited)
  }
}

export default {render}
