import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { formatMailbox, hostName, parseMailbox } from "../../base/mailbox.ts"
import { MAX_NAME_LENGTH } from "../../consensus/names.ts"
import type { Recipients } from "../Recipients.ts"
import type { Recipient } from "./envelope.ts"
import type { RelayConfig } from "./RelayConfig.ts"
import { type Rejection, rejections } from "./replies.ts"
import { isRewritten, restoreSender, type Srs } from "./srs.ts"

/** What old mail systems route elsewhere (`user%host`, `host!user`), or what would need quotes. */
const NO_LABEL = /[\p{C}\p{Z}%!"(),:;<>@[\\\]]/u

/** `undefined` for a local part written as an address of another server. */
export const labelOf = (local: string): string | undefined =>
  local === "" || Buffer.byteLength(local) > MAX_NAME_LENGTH || NO_LABEL.test(local) ? undefined : local

interface Parts {
  readonly config: RelayConfig
  readonly srs: Srs
  readonly recipients: typeof Recipients.Service
}

const MOST_TARGETS = 10

/** A client waits five minutes for its reply (RFC 5321 4.5.3.2.3). */
const LOOKUP_TIMEOUT = Duration.seconds(30)

const POSTMASTER = "postmaster"

const recipient = (address: string, targets: ReadonlyArray<string>): Recipient => ({ address, targets, loops: false })

const isOwn = ({ domains }: RelayConfig, domain: string): boolean => {
  const host = hostName(domain)
  return host !== undefined && domains.some((each) => hostName(each) === host)
}

/** Addresses come from a public database: only valid ones get into an SMTP command. */
const usable = (addresses: ReadonlyArray<string>): ReadonlyArray<string> => {
  const targets = addresses.slice(0, MOST_TARGETS).flatMap((address) => {
    const mailbox = parseMailbox(address)
    return mailbox === undefined ? [] : [formatMailbox(mailbox)]
  })
  return [...new Set(targets)]
}

/**
 * Refuses everything but mail for a label of a configured domain and bounces to an address that this relay made, so it
 * is not an open relay. `isBounce`: the envelope sender is empty.
 */
export const recipientOf = (
  parts: Parts,
  address: string,
  { isBounce, now }: { readonly isBounce: boolean; readonly now: number }
): Effect.Effect<Recipient, Rejection> =>
  Effect.gen(function*() {
    const { config, recipients, srs } = parts
    const at = address.lastIndexOf("@")
    const local = at < 0 ? address : address.slice(0, at)
    const domain = at < 0 ? undefined : hostName(address.slice(at + 1))

    if (domain !== undefined && domain === hostName(config.senderDomain) && isRewritten(local)) {
      // A name's owner can mail its own name under a foreign sender, and so learn that sender's rewritten address.
      if (!isBounce) return yield* Effect.fail(rejections.notABounce())
      const sender = usable([restoreSender(srs, local, now) ?? ""])
      return sender.length === 0 ? yield* Effect.fail(rejections.badBounce()) : recipient(address, sender)
    }
    const ours = domain !== undefined && isOwn(config, domain)
    if (local.toLowerCase() === POSTMASTER && config.postmaster !== undefined && (ours || at < 0)) {
      return recipient(address, [config.postmaster])
    }
    if (!ours) return yield* Effect.fail(rejections.noRelaying())

    // alice+shop@ is mail for alice, as at most servers: a label has no plus sign.
    const label = labelOf(local.split("+", 1)[0] ?? local)
    if (label === undefined) return yield* Effect.fail(rejections.noSuchRecipient())
    const { backup, email } = yield* recipients.forwardingOf(label).pipe(
      Effect.timeoutFail({ duration: LOOKUP_TIMEOUT, onTimeout: rejections.lookupFailed }),
      Effect.catchTags({
        NoSuchRecipient: () => Effect.fail(rejections.noSuchRecipient()),
        RecipientsUnavailable: ({ reason }) =>
          Effect.zipRight(
            Effect.logDebug("a label cannot be looked up", { reason }),
            Effect.fail(rejections.lookupFailed())
          )
      })
    )
    // A name that forwards into a domain of this relay would make it deliver to itself.
    const targets = usable([email, ...backup]).filter((target) =>
      !isOwn(config, target.slice(target.lastIndexOf("@") + 1))
    )
    return targets.length === 0 ? yield* Effect.fail(rejections.noSuchRecipient()) : recipient(address, targets)
  })
