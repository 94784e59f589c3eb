import * as Effect from "effect/Effect"
import { Chain } from "../../chain/Chain.ts"
import { isExpired } from "../../consensus/expiry.ts"
import type { PageAnswer, PageHandler } from "../../http/Pages.ts"
import { NameAnswers } from "../../light/NameAnswers.ts"
import { isProved, type ProofLevel } from "../../light/proof.ts"
import { encodeText } from "../../protocol/nameText.ts"
import { isDnsLabel } from "../../values/hosts.ts"
import { identity } from "../../values/nostr.ts"
import { restAnswer } from "./restAnswer.ts"

/**
 * `GET /.well-known/nostr.json?name=alice` for hosts below the suffixes of DNS (NIP-05): the nostr account of
 * `alice@example.bit.example.org` from the value of d/example, for clients without knowledge of Namecoin. A proxy in
 * front has the certificate and keeps the `Host` header.
 */

const PATH = "/.well-known/nostr.json"

/** Characters of a local part, which NIP-05 gives, and a bound on them. */
const LOCAL = /^[a-z0-9._-]{1,64}$/i

/** Seconds until a client should ask again. */
const RETRY = "30"
const FRESH = "300"

/** NIP-05: allows all origins. */
const SHARED = { "Access-Control-Allow-Origin": "*" }

const json = (status: number, body: object, headers: Readonly<Record<string, string>> = {}): PageAnswer => {
  const answer = restAnswer(status, "application/json", `${JSON.stringify(body)}\n`)
  return { ...answer, headers: { ...answer.headers, ...SHARED, ...headers } }
}

const UNAVAILABLE = json(503, { error: "the node lacks names or their proof; try again later" }, {
  "Retry-After": RETRY
})

const ABSENT = json(404, { names: {} })

/** The name of the domain that a host below `bit.<suffix>` stands for. */
export const nameOfHost = (host: string | undefined, suffixes: ReadonlyArray<string>): string | undefined => {
  const plain = host?.toLowerCase().replace(/:\d{1,5}$/, "").replace(/\.$/, "")
  for (const suffix of suffixes) {
    const end = `.bit.${suffix.toLowerCase().replace(/\.$/, "")}`
    const label = plain?.endsWith(end) === true ? plain.slice(0, -end.length) : ""
    if (isDnsLabel(label)) return `d/${label}`
  }
  return undefined
}

export interface NostrGatewayOptions {
  readonly suffixes: ReadonlyArray<string>
  /** The least proof of an answer. */
  readonly requireProof: ProofLevel
}

interface Asked {
  readonly name: string
  /** The part before the @. */
  readonly local: string
}

const serves: PageHandler["serves"] = ({ path }) => path === PATH

/** While the node is starting. */
export const nostrStarting: PageHandler = { serves, authenticated: false, answer: () => Effect.succeed(UNAVAILABLE) }

export const nostrGateway = (
  { requireProof, suffixes }: NostrGatewayOptions
): Effect.Effect<PageHandler, never, Chain | NameAnswers> =>
  Effect.gen(function*() {
    const { params } = yield* Chain
    const answers = yield* NameAnswers

    /** The account in a living name; `undefined` if there certainly is none. An old value denies one as a missing name does. */
    const accountOf = ({ local, name }: Asked) => {
      const question = Effect.map(
        Effect.zip(answers.resolve(Buffer.from(name, "latin1")), answers.height),
        ([found, height]) => ({
          proof: found?.proof ?? answers.proofOfAbsence(),
          account: found === undefined || isExpired(found.record, height, params)
            ? undefined
            : identity(encodeText(found.record.value, "utf8") ?? "", local)
        })
      )
      return answers.ask(question, ({ account }) => account === undefined)
    }

    const answerTo = (asked: Asked): Effect.Effect<PageAnswer> =>
      accountOf(asked).pipe(
        Effect.map(({ account, proof }) => {
          if (!isProved({ proof }, requireProof)) return UNAVAILABLE
          if (account === undefined) return ABSENT
          const { pubkey, relays } = account
          const names = { [asked.local]: pubkey }
          const fresh = { "Cache-Control": `max-age=${FRESH}` }
          return json(200, relays.length === 0 ? { names } : { names, relays: { [pubkey]: relays } }, fresh)
        }),
        Effect.catchAll((failure) =>
          failure._tag === "NamesIncomplete"
            ? Effect.succeed(UNAVAILABLE)
            // Callers without credentials must not see paths of files.
            : Effect.as(Effect.logError("names cannot be read", { reason: failure.message }), UNAVAILABLE)
        )
      )

    return {
      serves,
      authenticated: false,
      answer: ({ host, query }) => {
        const local = query.get("name") ?? ""
        if (!LOCAL.test(local)) return Effect.succeed(json(400, { error: "write ?name= and the part before the @" }))
        const name = nameOfHost(host, suffixes)
        return name === undefined ? Effect.succeed(ABSENT) : answerTo({ name, local })
      }
    }
  })
