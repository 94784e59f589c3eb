import { shellWord } from "./safeText.ts"

/** The commands for the owner of a name, in the texts of the daemon and of svcd-cli. */

export const CLI = "svcd-cli"

/** How a command begins that is about a wallet; `undefined` for the only one. */
export const cliOf = (wallet: string | undefined): string =>
  wallet === undefined ? CLI : `${CLI} -rpcwallet ${shellWord(wallet)}`

const METHODS = { renew: "name_renew", register: "name_autoregister", dismiss: "name_acknowledge" } as const

export type OwnerWord = keyof typeof METHODS

export interface NameArgument {
  readonly hex: string
  /** `undefined` for a name that cannot be typed safely. */
  readonly text: string | undefined
}

const inHex = (word: OwnerWord, hex: string): string => word === "register" ? `name=${hex}` : `names='["${hex}"]'`

/** `cli` begins the command: svcd-cli, with its flags. Without text, the name is an argument of the method, in hex. */
export const ownerCommand = (cli: string, word: OwnerWord, { hex, text }: NameArgument): string =>
  text === undefined
    ? `${cli} -named ${METHODS[word]} ${inHex(word, hex)} options='{"nameEncoding":"hex"}'`
    : `${cli} ${word} ${shellWord(text)}`
