/** Even in JSON. */
const DESCRIPTOR = /^[\s[{"']*[A-Za-z_]\w*\(/

/**
 * The length of a Base58 private key (51 or 52 characters), or the beginning of an extended one (111), with room for
 * typos. An I2P address is as long, but ends differently.
 */
export const KEY =
  /(?<![\dA-Za-z])(?:[\dA-Za-z]{50,53}|[\dA-Za-z]{110,112})(?![\dA-Za-z]|\.b32\.i2p)|[A-Za-z]prv[\dA-Za-z]{8}[\dA-Za-z]*/i

/** Twelve consecutive words of seed word lengths, which are rare in sentences. */
const RECOVERY_WORDS = /(?<![A-Za-z])(?:[A-Za-z]{3,8}[\s,]+){11}[A-Za-z]{3,8}(?![A-Za-z])/

/** A possible private key, descriptor or seed phrase, which no error may repeat. */
export const looksSecret = (argument: string): boolean =>
  DESCRIPTOR.test(argument) || KEY.test(argument) || RECOVERY_WORDS.test(argument)
