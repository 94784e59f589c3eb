import type { MailNotice } from "../../../src/alerts/mail/mailQueue.ts"
import { text } from "../../names/blocks.ts"

/** A notice about a name of a wallet, which has to be renewed by hand. */
export const noticeOf = (name: string | Uint8Array, about = 1_800_000_000): MailNotice => ({
  name: typeof name === "string" ? text(name) : name,
  height: 800_000,
  about,
  mine: true,
  renewed: false,
  pending: false
})
