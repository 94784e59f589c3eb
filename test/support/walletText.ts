import { checkText } from "../../src/base/checksum.ts"

/** The text of a wallet.json without its checksum: as 0.1.0 wrote it, or as an owner leaves it after removing it. */
export const withoutChecksum = (text: string): string => checkText(text).text

/** The note of a registration in a file of 0.1.0 if another owner has the name: svcd compared it. */
export const TAKEN_IN_0_1_0 = "somebody else has registered the name"
