// Words marked in texts. A pattern matches whatever case the letters have, letters without accents those with them, too,
// and where there is a space, or a hyphen in a word, any of these. Letters of Hebrew and Arabic may have points.

const GAP = '[\\s\\-‐‑–_/]+'
const BETWEEN = new RegExp(`(?<=[\\p{L}\\p{N}])${GAP}(?=[\\p{L}\\p{N}])|\\s+`, 'u')
const POINTS = // as in nmf2.languages
  '\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u08f0-\u08f2'
const POINT = new RegExp(`[${POINTS}]`, 'g')
const WITHOUT = {ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ı: 'i'} // they have no accent to take off
const ACCENTED = {} // for each letter, or two, those that are it with an accent
for (const letter in WITHOUT) ACCENTED[WITHOUT[letter]] = letter
for (let code = 0xe0; code < 0x1f00; code += code === 0x24f ? 0x1bb1 : 1) {
  const letter = String.fromCharCode(code)
  const [base, mark] = letter.normalize('NFD')
  if (mark && letter === letter.toLowerCase()) ACCENTED[base] = (ACCENTED[base] || '') + letter
}
ACCENTED.i += 'İ' // which is no i with its dot in every language, as the browser sees it

const bare = text =>
  text
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(POINT, '')
    .replace(/[ßæœøłđı]/giu, letter => WITHOUT[letter.toLowerCase()] || letter)
const withAccents = letters => {
  const each = [...letters].map(letter => `[${letter}${ACCENTED[letter.toLowerCase()] || ''}]`).join('')
  return letters.length > 1 ? `(?:${each}|${ACCENTED[letters.toLowerCase()]})` : each
}

// As `_escaped` in nmf2.page: a word as long as a text goes as it is, for each letter with accents takes time
const escaped = (word, letters, others) => {
  const plain = word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return word.length > 500 ? plain : plain.replace(letters, others)
}
const plainly = (words, letters = /ss|ae|oe|[a-z]/gi, others = withAccents) =>
  words
    .normalize('NFC')
    .replace(POINT, '')
    .replace(/İ|i\u0307/g, 'i')
    .split(BETWEEN)
    .map(word => escaped(word, letters, others))
    .join(GAP)
    .replace(/['’ʼ]/g, "['’ʼ]")
    .replace(/[\u05d0-\u06ff]/g, `$&[${POINTS}]*`)
const patternOf = text => new RegExp(plainly(text), 'giu')

// Most texts have a single letter of Latin, or figure: it is looked for in names and titles alone
const isTooShort = text => /^[a-z0-9]?$/i.test(text)

// Any of the words
const patternOfAny = words => new RegExp(words.map(word => plainly(word)).join('|'), 'giu')

// Whole words as they are, the longest first, so that a phrase is found before the words in it
function patternOfWords(words) {
  const sorted = [...words].sort((a, b) => b.length - a.length).map(word => plainly(word, /i/g, () => '[iİ]'))
  const letter = `[\\p{L}\\p{N}_${POINTS}]`
  return new RegExp(`(?<!${letter})(?:${sorted.join('|')})(?!${letter})`, 'giu')
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
