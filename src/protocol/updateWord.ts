/** What an update of a name has in common with the record that it replaces. */
export interface KeptByUpdate {
  readonly value: boolean
  /** The address of the owner. */
  readonly owner: boolean
}

/**
 * Returns the word for an update of a name, for people. A new address is not called a transfer: wallets take a fresh one for each update of
 * their own, and the node cannot know whose it is.
 */
export const updateWord = ({ owner, value }: KeptByUpdate): string =>
  `${value ? "renewed" : "updated"}${owner ? "" : ", new address"}`
