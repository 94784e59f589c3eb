import { needsUtf8 } from "../../base/mailbox.ts"
import type { DeliveryState } from "./deliveryState.ts"
import type { Envelope, Reply } from "./envelope.ts"
import { mailDate } from "./trace.ts"

export interface FailedRecipient {
  readonly address: string
  readonly reply: Reply
  /** Addresses refused permanently. */
  readonly refusals: ReadonlyArray<{ readonly address: string; readonly reply: Reply }>
}

export interface ReportInput {
  readonly id: string
  /** Milliseconds since 1970. */
  readonly at: number
  readonly hostname: string
  readonly from: string
  readonly upstream: string
  readonly original: Envelope
  readonly failed: ReadonlyArray<FailedRecipient>
  /** The original's header only: the sender knows the rest, and no other reader must get it. */
  readonly header: Uint8Array
}

/** Bytes of the original's header in a bounce. */
export const REPORTED_HEADER = 65_536

/** Up to the empty line, or as many whole lines as there are. */
export const reportHeader = (start: Buffer): Buffer => {
  if (start.subarray(0, 2).toString("latin1") === "\r\n") return Buffer.alloc(0)
  const end = start.indexOf("\r\n\r\n")
  if (end >= 0) return start.subarray(0, end + 2)
  return start.subarray(0, start.lastIndexOf("\r\n") + 2)
}

export const failedRecipients = (
  envelope: Envelope,
  state: DeliveryState,
  indices: ReadonlyArray<number>
): ReadonlyArray<FailedRecipient> =>
  indices.flatMap((index) => {
    const [recipient, each] = [envelope.recipients[index], state[index]]
    return recipient === undefined || each?._tag !== "Failed"
      ? []
      : [{ address: recipient.address, reply: each.reply, refusals: each.refusals }]
  })

const answered = (reply: Reply): string => reply.code === 0 ? reply.text : `the answer was: ${reply.text}`

const explained = ({ address, refusals, reply }: FailedRecipient): string => {
  const tried = refusals.map((refusal) => `  ${refusal.address}: ${answered(refusal.reply)}`)
  const said = refusals.some((refusal) => refusal.reply.text === reply.text) ? [] : [`  ${answered(reply)}`]
  return [`<${address}>`, ...tried, ...said].join("\r\n")
}

const statusOf = ({ address, reply }: FailedRecipient, upstream: string): string => {
  const type = needsUtf8(address) ? "utf-8" : "rfc822"
  // A status of class 4 means a temporary failure, but the relay has given up.
  const status = reply.status.replace(/^[24]\./, "5.")
  const remote = reply.code === 0 ? [] : [
    `Remote-MTA: dns; ${upstream}`,
    `Diagnostic-Code: smtp; ${reply.text}`
  ]
  return [`Final-Recipient: ${type}; ${address}`, "Action: failed", `Status: ${status}`, ...remote, ""].join("\r\n")
}

/** A whole delivery report (RFC 3464, or RFC 6533 if an address is not ASCII) to the sender about failed recipients. */
export const buildReport = (input: ReportInput): Buffer => {
  const { at, failed, from, header, hostname, id, original, upstream } = input
  const header8 = header.some((byte) => byte > 127)
  const addresses = failed.flatMap(({ address, refusals }) => [address, ...refusals.map((each) => each.address)])
  const utf8 = [original.sender, ...addresses].some(needsUtf8)
  const boundary = `${id}.report`
  const encoding = (eightBit: boolean): string => `Content-Transfer-Encoding: ${eightBit ? "8bit" : "7bit"}`
  const text = [
    `From: Mail Delivery System <${from}>`,
    `To: <${original.sender}>`,
    "Subject: Undelivered mail",
    `Date: ${mailDate(at)}`,
    `Message-ID: <${id}@${hostname}>`,
    "Auto-Submitted: auto-replied",
    "MIME-Version: 1.0",
    `Content-Type: multipart/report; report-type=delivery-status; boundary="${boundary}"`,
    encoding(utf8 || header8),
    "",
    "This is a report in MIME format.",
    "",
    `--${boundary}`,
    "Content-Type: text/plain; charset=utf-8",
    encoding(utf8),
    "",
    `This is the mail relay at ${hostname}.`,
    "",
    "Your message could not be delivered to:",
    "",
    ...failed.map(explained),
    "",
    "It will not be tried again. The header of your message is attached.",
    "",
    `--${boundary}`,
    `Content-Type: message/${utf8 ? "global-" : ""}delivery-status`,
    encoding(utf8),
    "",
    `Reporting-MTA: dns; ${hostname}`,
    `Arrival-Date: ${mailDate(original.arrivedAt)}`,
    "",
    ...failed.map((each) => statusOf(each, upstream)),
    `--${boundary}`,
    "Content-Type: text/rfc822-headers",
    encoding(header8),
    "",
    ""
  ].join("\r\n")
  return Buffer.concat([Buffer.from(text, "utf8"), header, Buffer.from(`\r\n--${boundary}--\r\n`, "utf8")])
}
