/** What looks like a secret of a wallet in texts that a user gives. */

/** The beginning of a descriptor, even in JSON. */
const DESCRIPTOR = /^[\s[{"']*[A-Za-z_]\w*\(/

/**
 * A word about as long as a private key in Base58 (51 or 52 characters) or an extended one (111), or the beginning of the latter.
 * A slip of the writer may leave the alphabet (0, O, I and l), or drop or add a character: what is left still tells the key.
 * An address of I2P is as long, and its ending tells that it is one.
 */
export const KEY =
  /(?<![\dA-Za-z])(?:[\dA-Za-z]{50,53}|[\dA-Za-z]{110,112})(?![\dA-Za-z]|\.b32\.i2p)|[A-Za-z]prv[\dA-Za-z]{8}[\dA-Za-z]*/i

/** Twelve words in a row of the lengths that recovery words have, as a sentence of a person hardly has them. */
const RECOVERY_WORDS = /(?<![A-Za-z])(?:[A-Za-z]{3,8}[\s,]+){11}[A-Za-z]{3,8}(?![A-Za-z])/

/** Whether an argument of any method may be a private key, a descriptor or recovery words, so that no error repeats it. */
export const looksSecret = (argument: string): boolean =>
  DESCRIPTOR.test(argument) || KEY.test(argument) || RECOVERY_WORDS.test(argument)
