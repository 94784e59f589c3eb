import { MIN_NAME_AMOUNT } from "../../consensus/names.ts"
import { formatAmount } from "../../protocol/amount.ts"
import { displayHash } from "../../protocol/bytes.ts"
import type { RegistrationEntry, RegistrationFailure } from "../keys/registrationEntry.ts"

/** The file has the reason only. */
const WORDS: Readonly<Record<RegistrationFailure, string>> = {
  taken: "another owner has registered the name",
  abandoned: "its name_new was abandoned",
  conflicted: "its name_new can never be confirmed: another transaction spends its coins",
  cancelled: "called off by the owner"
}

/** Only a registration of the same name can spend a NAME_NEW. */
const coinsText = ({ failure, firstUpdateTxid }: RegistrationEntry): string => {
  if (failure?.coinsIn === "name_new") {
    return `; its name_new keeps ${formatAmount(MIN_NAME_AMOUNT)} NMC, which only a registration of this name can use`
  }
  return failure?.coinsIn === undefined || firstUpdateTxid === undefined
    ? ""
    : `; its name_firstupdate keeps the coins that pay for it: "abandontransaction ${
      displayHash(firstUpdateTxid)
    }" frees them`
}

/** Why it failed, or what it waits for; may be empty. */
export const noteOf = (entry: RegistrationEntry): string =>
  entry.failure === undefined ? entry.note : WORDS[entry.failure.reason] + coinsText(entry)
