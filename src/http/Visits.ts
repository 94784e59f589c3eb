import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Exchange } from "./Exchange.ts"
import type { AdmittedUser, PageVisit } from "./Pages.ts"
import type { Guesser, Penalties } from "./Penalties.ts"
import type { Permitted } from "./permissions.ts"
import { type HttpRefusal, NO_ROOM, TOO_LARGE } from "./refusals.ts"
import { BodyReader } from "./requestBody.ts"
import type { Session } from "./Session.ts"

/** Bytes of a form: the longest has a value of 520 bytes several times, each byte as three characters. */
const LONGEST_FORM = 65_536

const FORM_TYPE = /^application\/x-www-form-urlencoded(?:;|$)/i

export interface VisitRules {
  readonly admit: (authorization: string) => string | undefined
  readonly permittedTo: (user: string) => Permitted
  readonly penalties: Penalties
}

/** What the pages with sessions of their own get from the listener. */
export class Visits {
  readonly #rules: VisitRules
  readonly #bodies = new BodyReader(LONGEST_FORM)

  constructor(rules: VisitRules) {
    this.#rules = rules
  }

  /** Reads the form of a request, if it can have one; `visit` gets it. */
  read(
    exchange: Exchange,
    { refuse, visit }: {
      readonly visit: (visit: PageVisit, release: () => void) => void
      readonly refuse: (refusal: HttpRefusal) => void
    }
  ): void {
    const { expectsContinue, request, response, session } = exchange
    if (request.method !== "POST") return visit(this.#visitOf(session, undefined), () => {})
    if (expectsContinue) response.writeContinue()
    const isForm = FORM_TYPE.test(request.headers["content-type"] ?? "")
    this.#bodies.read(request, session.memory, (body) => {
      if (body._tag !== "Complete") return refuse(body._tag === "TooLarge" ? TOO_LARGE : NO_ROOM)
      const text = isForm ? Buffer.from(body.bytes).toString("utf8") : ""
      visit(this.#visitOf(session, new URLSearchParams(text)), body.release)
    })
  }

  #visitOf(session: Session, form: URLSearchParams | undefined): PageVisit {
    const { client } = session
    return {
      peer: client.text,
      remote: !client.loopback,
      form,
      admit: (user, password) => admitInTurn(this.#rules, session, `${user}:${Redacted.value(password)}`)
    }
  }
}

/** A client that waits for its credentials to be checked. */
interface WaitingClient extends Guesser {
  readonly whenGone: (then: () => void) => void
}

/** Checks credentials in their turn, with the delay of wrong ones. Those of a client that left are not checked. */
export const admitInTurn = (
  { admit, penalties, permittedTo }: VisitRules,
  client: WaitingClient,
  credentials: string
): Effect.Effect<AdmittedUser | undefined> => {
  const authorization = `Basic ${Buffer.from(credentials).toString("base64")}`
  return Effect.async((resume) => {
    const takeBack = penalties.await(client.key, () => {
      const user = admit(authorization)
      if (user === undefined) return penalties.serve(client, () => resume(Effect.succeed(undefined)))
      penalties.admitted(client.key)
      resume(Effect.succeed({ user, permitted: permittedTo(user) }))
    })
    if (takeBack === undefined) return undefined
    // Otherwise clients that left would take the room for calls.
    client.whenGone(() => {
      takeBack()
      resume(Effect.succeed(undefined))
    })
    return Effect.sync(takeBack)
  })
}
