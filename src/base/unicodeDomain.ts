import { domainToASCII, domainToUnicode } from "node:url"

/**
 * Domains beyond ASCII, which DNS and names encode (`xn--zrich-kva`). The Unicode form is shown beside the encoded one,
 * only if no reader takes it for another domain: letters of one script, no word that imitates ASCII. The rules are
 * stricter than those of browsers (UTS #39, section 5).
 */

/** Latin letters with marks, each an ASCII letter without them, and some letters of their own. */
const LATIN = /^(?:[a-z][\u0300-\u036f]{0,2}|[ßæœøđłþð]|[0-9-])+$/

/** Words of one script, or of scripts that are mixed. None from right to left: it would turn the surrounding line. */
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
 * Characters that look like ASCII letters, digits or signs, so that a word of them may imitate an ASCII word, and parts
 * of Korean letters; words have whole ones.
 */
const LOOKALIKE = /[0-9\-ー一ノへヘ\u1100-\u11ff\u0966\u09e6\u09ed\u0be6\u0c66\u0c67டபทนบพรหเแ๐ดลปฟมიოყძხჽჿსჲ]/gu

/** Words that also need a letter unlike ASCII. */
const WITH_OWN_LETTER: ReadonlyArray<readonly [word: RegExp, own: RegExp]> = [
  [/^[\u0430-\u045f0-9-]+$/, /[бвджзийлмнфцчшщэяђћљњџ]/],
  [/^[\u03ac-\u03ce0-9-]+$/, /[βδζθλμξπσςφψ]/]
]

const isSafe = (label: string): boolean =>
  LATIN.test(label.normalize("NFD")) || label.replaceAll(LOOKALIKE, "") !== "" && ONE_SCRIPT.some((word) =>
      word.test(label)
    ) ||
  WITH_OWN_LETTER.some(([word, own]) => word.test(label) && own.test(label))

/** The label in Unicode, safe to show or not; `undefined` if it is not validly encoded. */
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
