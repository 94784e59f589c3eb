/** Precedes a word in a list, as `svcd-wallet` prints it on a terminal. */
const NUMBER = /^\d{1,2}[.:)]?$/

export const wordsWithoutNumbers = (text: string): ReadonlyArray<string> =>
  text.split(/\s+/).filter((word) => word !== "" && !NUMBER.test(word))
