import { assert } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { makeDesk } from "../../src/desk/desk.ts"
import { isStream, pageRequest } from "../../src/http/Pages.ts"
import type { Permitted } from "../../src/http/permissions.ts"
import { DeskLinks, LinkBook } from "../../src/rpc/DeskLinks.ts"
import { Dispatch } from "../../src/rpc/Dispatch.ts"
import type { RpcReason } from "../../src/rpc/method/RpcError.ts"
import { describedAnswer } from "../support/describedAnswer.ts"

/** A desk whose methods are answered by a table, and a browser that keeps its cookie. */

export const PASSWORD = "right"

export class Refused {
  readonly code: number
  readonly message: string
  readonly data: { readonly reason: RpcReason } | undefined

  constructor(code: number, message: string, reason?: RpcReason) {
    this.code = code
    this.message = message
    this.data = reason === undefined ? undefined : { reason }
  }
}

export interface RecordedCall {
  readonly method: string
  readonly params: ReadonlyArray<unknown>
  /** The wallet that it is for; `undefined` for the only one. */
  readonly wallet?: string | undefined
}

export type Answers = Record<string, (params: ReadonlyArray<unknown>) => unknown>

/** A wallet without a passphrase, coins or names. */
export const EMPTY_WALLET: Answers = {
  getwalletinfo: () => ({ walletname: "", private_keys_enabled: true, phrase_kept: true }),
  getbalances: () => ({ mine: { trusted: 1.5, untrusted_pending: 0, immature: 0 } }),
  name_list: () => [],
  name_registrations: () => [],
  name_renewals: () => [],
  name_alerts: () => ({ names: [], complete: true }),
  getmempoolinfo: () => ({ mempoolminfee: 0.001 }),
  name_autorenew: () => ({ all: true, names: [] }),
  name_pending: () => [],
  name_show: () => new Refused(-4, "name never existed"),
  estimatesmartfee: () => ({}),
  validateaddress: () => ({ isvalid: true }),
  name_autoregister: () => ({ step: "committed" }),
  listtransactions: () => [],
  getaddressinfo: () => ({ ismine: true }),
  decodepsbt: () => ({ tx: { vin: [{ txid: "ef".repeat(32), vout: 1, sequence: 0 }] } }),
  gettxspendingprevout: () => [{ txid: "ef".repeat(32), vout: 1 }]
}

interface Asked {
  readonly path: string
  readonly fields?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly remote?: boolean
}

export interface DeskAnswer {
  readonly status: number
  readonly body: string
  readonly location: string
  readonly headers: Readonly<Record<string, string>>
  readonly cookies: ReadonlyArray<string>
}

export class TestDesk {
  readonly calls: Array<RecordedCall> = []
  answers: Answers
  time = 0
  cookie = ""
  readonly book = new LinkBook(() => this.time)
  permitted: Permitted
  readonly #visit

  private constructor(answers: Answers, visit: (desk: TestDesk) => ReturnType<typeof TestDesk.handler>) {
    this.answers = answers
    this.#visit = visit(this)
  }

  private static handler(desk: TestDesk, behindProxy: boolean) {
    const dispatch: typeof Dispatch.Service = {
      demandOf: (method) => ({ method, rights: [] }),
      read: (body) => ({
        count: 1,
        demands: () => {
          const { method }: RecordedCall = JSON.parse(String(body))
          return [{ method, rights: [] }]
        },
        mayEnd: false,
        abandon: () => {},
        weight: 0,
        answer: ({ wallet }) => Effect.zipRight(Effect.yieldNow(), desk.answer(String(body), wallet))
      }),
      readLong: () => Effect.die("not asked for"),
      install: () => Effect.void,
      inTurn: (effect) => effect,
      inFlight: () => 0
    }
    return Effect.runSync(
      makeDesk({
        network: "regtest",
        dataDir: "/srv/the node's",
        behindProxy,
        ownName: "127.0.0.1",
        now: () => desk.time
      }).pipe(
        Effect.provideService(Dispatch, dispatch),
        Effect.provideService(DeskLinks, { book: desk.book, behindProxy })
      )
    )
  }

  static make(answers: Answers = {}, behindProxy = false): TestDesk {
    return new TestDesk({ ...EMPTY_WALLET, ...answers }, (desk) => TestDesk.handler(desk, behindProxy))
  }

  answer(body: string, wallet: string | undefined) {
    return Effect.sync(() => {
      const { method, params }: RecordedCall = JSON.parse(body)
      this.calls.push({ method, params, wallet })
      const answered = this.answers[method]?.(params) ?? null
      return answered instanceof Refused
        ? { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: 1, error: { ...answered } }) }
        : { status: 200, body: `{"jsonrpc":"2.0","id":1,"result":${describedAnswer(method, answered)}}` }
    })
  }

  /** The methods that were called since. */
  called(...methods: ReadonlyArray<string>): ReadonlyArray<RecordedCall> {
    return this.calls.filter(({ method }) => methods.includes(method))
  }

  ask({ fields, headers = {}, path, remote = false }: Asked): Effect.Effect<DeskAnswer> {
    const request = pageRequest(`/desk/${path}`, {
      accept: "text/html",
      host: "127.0.0.1:8336",
      cookie: this.cookie,
      ...headers
    })
    assert.isTrue(this.#visit.serves(request))
    return Effect.map(
      this.#visit.visit(request, {
        peer: "127.0.0.1:1",
        remote,
        form: fields === undefined ? undefined : new URLSearchParams(fields),
        admit: (user, password) =>
          Effect.succeed(Redacted.value(password) === PASSWORD ? { user, permitted: this.permitted } : undefined)
      }),
      ({ body, cookies = [], headers, status }) => {
        if (isStream(body)) return assert.fail("a stream")
        if (cookies.length > 0) this.cookie = cookies.map((cookie) => cookie.split(";")[0]).join("; ")
        return { status, headers, cookies, location: headers["Location"] ?? "", body: String(body) }
      }
    )
  }

  readonly login = Effect.suspend(() => this.ask({ path: "login", fields: { user: "alice", password: PASSWORD } }))

  /** The user that a cookie lets see the pages about the node. */
  readerOf(cookie: string) {
    return this.#visit.readerOf?.(cookie)
  }

  /** Makes a link for a user, as `createdesklink` does. */
  link(user = "alice"): string {
    return this.book.make({ user, permitted: this.permitted }, { wallet: undefined })
  }

  /** The token in the forms of the session. */
  readonly token = Effect.suspend(() =>
    Effect.map(this.ask({ path: "send" }), ({ body }) => /name="token" value="([^"]+)"/.exec(body)?.[1] ?? "")
  )

  /** Sends a form with its token. */
  send(path: string, fields: Readonly<Record<string, string>>): Effect.Effect<DeskAnswer> {
    return Effect.flatMap(this.token, (token) => this.ask({ path, fields: { token, ...fields } }))
  }

  /** Opens the page to which an answer leads. */
  follow({ location, status }: DeskAnswer): Effect.Effect<DeskAnswer> {
    assert.strictEqual(status, 303)
    return this.ask({ path: location.slice(2) })
  }
}

export const hexOf = (text: string): string => Buffer.from(text).toString("hex")

export const NAME = hexOf("d/example")
export const ADDRESS = "mrCDrCybB6J1vRfbwM5hemdJz73FwDBC8r"

/** A name of the wallet, as `name_list` has it. */
export const OWN = {
  name: NAME,
  value: hexOf("{\"ip\":\"192.0.2.1\",\"x\":[1.50]}"),
  txid: "ab".repeat(32),
  ismine: true,
  height: 100,
  expires_in: 30_000,
  expired: false,
  address: ADDRESS
}

/** Answers of a wallet that pays. */
export const PAYS: Answers = {
  walletcreatefundedpsbt: () => ({ psbt: "unsigned", fee: 0.000_23 }),
  walletprocesspsbt: ([psbt]) => ({ psbt: `signed ${String(psbt)}`, complete: true }),
  finalizepsbt: () => ({ hex: "00", complete: true }),
  sendrawtransaction: () => "cd".repeat(32)
}
