import { checkText } from "../../src/base/checksum.ts"

/** The text of a wallet.json without its checksum: as 0.1.0 wrote it, or as an owner leaves it after removing it. */
export const withoutChecksum = (text: string): string => checkText(text).text
