import { domainToASCII, domainToUnicode } from "node:url"

/**
 * Internationalized domains, which DNS and names encode (`xn--zrich-kva`). The Unicode form is shown beside the encoded
 * one, but only if readers cannot mistake it for another domain. Its letters must belong to one script, and no word may
 * imitate ASCII. The rules are stricter than those of browsers (UTS #39, section 5).
 */

/** ASCII letters with or without diacritical marks, and a few other Latin letters. */
const LATIN = /^(?:[a-z][\u0300-\u036f]{0,2}|[ßæœøđłþð]|[0-9-])+$/

/** Words of one script, or of scripts used together. Right-to-left scripts would reorder the surrounding line. */
const ONE_SCRIPT = [
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々0-9-]+$/u,
  /^[\p{Script=Hangul}\p{Script=Han}0-9-]+$/u,
  /^[\p{Script=Devanagari}0-9-]+$/u,
  /^[\p{Script=Bengali}0-9-]+$/u,
  /^[\p{Script=Tamil}0-9-]+$/u,
  /^[\p{Script=Telugu}0-9-]+$/u,
  /^[\p{Script=Thai}0-9-]+$/u,
  /^[\p{Script=Georgian}0-9-]+$/u
]

/**
 * Characters that look like ASCII letters, digits or signs. A word made of these alone may imitate an ASCII word. The
 * range includes parts of Korean syllables, because real words have whole syllables.
 */
const LOOKALIKE = /[0-9\-ー一ノへヘ\u1100-\u11ff\u0966\u09e6\u09ed\u0be6\u0c66\u0c67டபทนบพรหเแ๐ดลปฟมიოყძხჽჿსჲ]/gu

/** Scripts whose words need at least one letter unlike any in ASCII. */
const WITH_OWN_LETTER: ReadonlyArray<readonly [word: RegExp, own: RegExp]> = [
  [/^[\u0430-\u045f0-9-]+$/, /[бвджзийлмнфцчшщэяђћљњџ]/],
  [/^[\u03ac-\u03ce0-9-]+$/, /[βδζθλμξπσςφψ]/]
]

const isSafe = (label: string): boolean =>
  LATIN.test(label.normalize("NFD")) || label.replaceAll(LOOKALIKE, "") !== "" && ONE_SCRIPT.some((word) =>
      word.test(label)
    ) ||
  WITH_OWN_LETTER.some(([word, own]) => word.test(label) && own.test(label))

/** Decodes a label, even if its Unicode form is unsafe to show. `undefined` if the encoding is invalid. */
export const decodedLabel = (label: string): string | undefined => {
  if (!label.startsWith("xn--")) return undefined
  const host = domainToUnicode(`${label}.bit`)
  const decoded = host.slice(0, -".bit".length)
  return host.endsWith(".bit") && decoded !== label && domainToASCII(host) === `${label}.bit` ? decoded : undefined
}

/** The Unicode domain of a name such as `d/xn--zrich-kva`; `undefined` if there is none or it is not safe to show. */
export const unicodeDomain = (name: string): string | undefined => {
  if (!name.startsWith("d/xn--")) return undefined
  const decoded = decodedLabel(name.slice("d/".length))
  return decoded !== undefined && isSafe(decoded) ? `${decoded}.bit` : undefined
}
