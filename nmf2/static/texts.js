// Words marked in texts. A pattern matches whatever case the letters have, and where there is a space, any, or a hyphen.

const plainly = words =>
  words
    .replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
    .replace(/['’ʼ]/g, "['’ʼ]")
    .replace(/\s+/g, '[\\s\\-‐‑–_/]+')
const patternOf = text => new RegExp(plainly(text), 'giu')

// Any of the words
const patternOfAny = words => new RegExp(words.map(plainly).join('|'), 'giu')

// Whole words, the longest first, so that a phrase is found before the words in it
function patternOfWords(words) {
  const sorted = [...words].sort((a, b) => b.length - a.length)
  const letter = '[\\p{L}\\p{N}_]'
  return new RegExp(`(?<!${letter})(?:${sorted.map(plainly).join('|')})(?!${letter})`, 'giu')
}

function marked(text, pattern) {
  if (!pattern) return text
  const parts = []
  let from = 0
  for (const hit of text.matchAll(pattern)) {
    parts.push(text.slice(from, hit.index), make('mark', {}, hit[0]))
    from = hit.index + hit[0].length
  }
  return [...parts, text.slice(from)]
}
