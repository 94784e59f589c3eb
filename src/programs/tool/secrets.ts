/** Detects possible wallet secrets in a user's text. */

/** Even in JSON. */
const DESCRIPTOR = /^[\s[{"']*[A-Za-z_]\w*\(/

/**
 * About as long as a Base58 private key (51 or 52 characters) or an extended one (111), or the beginning of the latter.
 * A typo may leave the alphabet (0, O, I and l), or drop or add a character, and still reveal the key. An I2P address
 * is as long, but has its own ending.
 */
export const KEY =
  /(?<![\dA-Za-z])(?:[\dA-Za-z]{50,53}|[\dA-Za-z]{110,112})(?![\dA-Za-z]|\.b32\.i2p)|[A-Za-z]prv[\dA-Za-z]{8}[\dA-Za-z]*/i

/** Twelve consecutive words of seed word lengths, which are rare in sentences. */
const RECOVERY_WORDS = /(?<![A-Za-z])(?:[A-Za-z]{3,8}[\s,]+){11}[A-Za-z]{3,8}(?![A-Za-z])/

/** A possible private key, descriptor or seed phrase, which no error may repeat. */
export const looksSecret = (argument: string): boolean =>
  DESCRIPTOR.test(argument) || KEY.test(argument) || RECOVERY_WORDS.test(argument)
