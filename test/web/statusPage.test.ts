import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger, TestClock } from "effect"
import type { OwnOutlook } from "../../src/base/outlookWords.ts"
import type { PageHandler } from "../../src/http/Pages.ts"
import type { NameDb } from "../../src/names/NameDb.ts"
import { type Bytes, fromHex } from "../../src/protocol/bytes.ts"
import { classify } from "../../src/protocol/nameText.ts"
import { StorageUnavailable } from "../../src/storage/errors.ts"
import { lint } from "../../src/values/lint.ts"
import { nameFault } from "../../src/values/nameFault.ts"
import type { NameOutlook } from "../../src/wallet/names/WalletNames.ts"
import { startingPage } from "../../src/web/startingPage.ts"
import { eventually } from "../support/eventually.ts"
import { layer } from "../support/layer.ts"
import { MethodNode, methodNode } from "../support/methodNode.ts"
import { peerManager } from "../support/peers.ts"
import { at, items, stringAt } from "../support/recordedJson.ts"
import { assertGuarded, assertHarmless, assertTables } from "./assertPage.ts"
import { get, pagesOf, peer, requestOf, statusPageOf } from "./pages.ts"
import { linkTo, names } from "./pages.ts"

const bytesOf = (hex: string): Bytes => fromHex(hex) ?? assert.fail()

/** Of the recorded names that a page links to, whether they have expired. */
const expiredAmong = (body: string) =>
  names.filter((each) => body.includes(`<a href="${linkTo(bytesOf(stringAt(each, "nameHex"))).slice(1)}">`))
    .map((each) => at(each, "show", "expired"))

/** Checks that a handler serves what a browser requests of the root, whatever the query, and nothing else. */
const assertServesRoot = (handler: PageHandler): void => {
  assert.isTrue(handler.authenticated)
  assert.isTrue(handler.serves(requestOf("/")))
  assert.isTrue(handler.serves(requestOf("/?name=d/a")))
  for (const page of ["/blocks", "/block/5", "/tx/aa", "/address/x", "/names?order=changed", "/activity"]) {
    assert.isTrue(handler.serves(requestOf(page)), page)
    assert.isFalse(handler.serves(requestOf(page, false)), page)
  }
  for (const other of ["//", "/rpc", "/health", "/index.html", "/wallet/", "", "/blocks/", "/block/", "/tx/a/b"]) {
    assert.isFalse(handler.serves(requestOf(other)), other)
  }
  assert.isFalse(handler.serves(requestOf("/", false)))
  assert.isFalse(handler.serves(requestOf("/?name=d/a", false)))
}

describe("startingPage", () => {
  it.effect("reports that the node starts, and reloads without a script", () =>
    Effect.gen(function*() {
      assertServesRoot(startingPage)
      const page = yield* get(startingPage, "/?name=d/a")
      assert.strictEqual(page.status, 503)
      assert.strictEqual(page.headers["Retry-After"], "2")
      assert.include(page.body, "<meta http-equiv=\"refresh\" content=\"2\">")
      assert.include(page.body, "Starting")
      assertGuarded(page)
      assertHarmless(page)
    }))
})

layer(methodNode())("on a chain full of names", (it) => {
  it.effect("the overview shows the state of the node", () =>
    Effect.gen(function*() {
      const handler = yield* statusPageOf([
        peer(1),
        peer(2, { name: "<script>alert(1)</script>", userAgent: "\" onclick=\"alert(1)\u202e" })
      ])
      assertServesRoot(handler)
      const page = yield* get(handler, "/")
      assert.strictEqual(page.status, 200)
      assertGuarded(page)
      assertHarmless(page)
      assertTables(page)
      assert.include(page.body, "Up to date")
      assert.match(page.body, /<dt>Names<\/dt><dd><a href="[^"]*">67 active, 324 expired<\/a>/)
      assert.match(page.body, /<dt>Peers<\/dt><dd>1 outbound, 1 inbound<\/dd>/)
      assert.include(page.body, "192.0.2.1:8334")
      assert.lengthOf(page.body.match(/<dt>Protocol<\/dt><dd>70016<\/dd>/g) ?? [], 2)
      assert.include(page.body, "&lt;script&gt;alert(1)&lt;/script&gt;")
      assert.include(page.body, "href=\"?name=d%2Fsierrabd83\"")
      assert.lengthOf(page.body.match(/<a class="tile" href="\.\/block\/(?:59[3-9]|600)">/g) ?? [], 8)
    }))

  it.effect("the overview and the pages of names say which events their script follows; others follow none", () =>
    Effect.gen(function*() {
      const handler = yield* statusPageOf([peer(1)])
      const followed = (target: string) =>
        Effect.map(
          get(handler, target),
          ({ body }) => /<main id="main" [^>]*data-refresh="(.)" data-events="([^"]*)">/.exec(body)?.slice(1).join(" ")
        )
      assert.strictEqual(yield* followed("/"), "1 ./events")
      assert.strictEqual(
        yield* followed("/?name=d%2Fsierrabd83"),
        "0 ./events?name=642f73696572726162643833&amp;nameEncoding=hex"
      )
      for (const still of ["/blocks", "/block/589", "/names", "/activity", "/mempool", "/?q=d%2F"]) {
        assert.strictEqual(yield* followed(still), "0 ", still)
      }
      // A node that has not caught up would tell of many blocks: then the overview asks every few seconds alone.
      const calm = yield* get(yield* statusPageOf(), "/")
      assert.include(calm.body, "data-refresh=\"1\" data-events=\"\"")
    }))

  it.effect("the overview says how many watched names expire soon, and not which", () =>
    Effect.gen(function*() {
      const { expiring, watch } = yield* MethodNode
      const handler = yield* statusPageOf()
      assert.include((yield* get(handler, "/")).body, "<section id=\"expiring\" hidden>")
      const { names } = yield* expiring.list({ blocks: 30, whose: { of: "all" }, limit: 2 })
      const pair = names.map(({ record }) => record.name)
      assert.lengthOf(pair, 2)
      yield* watch.add(pair)
      // They belong to the owner: callers that may only read do not learn of them.
      assert.include((yield* get(handler, "/")).body, "<section id=\"expiring\" hidden>")
      const page = yield* get(handler, "/", { seesWallets: true })
      assertHarmless(page)
      assert.match(
        page.body,
        /<b>2 names<\/b> of the watch list expire within 8 blocks, without a pending renewal\. <code>/
      )
      assert.notInclude(page.body, "in danger")
      yield* watch.remove(pair)
    }))

  it.effect("the overview counts the wallets' names in danger, as their outlook says", () =>
    Effect.gen(function*() {
      const own = (
        text: string,
        { acknowledged = false, ...outlook }: Pick<OwnOutlook, "state" | "urgency"> & {
          readonly acknowledged?: boolean
        }
      ): NameOutlook => ({
        name: new TextEncoder().encode(text),
        height: 1,
        acknowledged,
        outlook: { left: 3, ...outlook }
      })
      const safe = own("d/safe", { state: "renews", urgency: "ok" })
      const known = own("d/known", { state: "free", urgency: "alarm", acknowledged: true })
      const locked = own("d/locked", { state: "locked", urgency: "warning" })
      const lost = own("d/lost", { state: "free", urgency: "alarm" })
      const counted = (...outlooks: ReadonlyArray<NameOutlook>) =>
        Effect.gen(function*() {
          const handler = yield* statusPageOf([], { outlooks })
          assert.notInclude((yield* get(handler, "/")).body, "in danger")
          const { body } = yield* get(handler, "/", { seesWallets: true })
          return /<b>(\d+ names?)<\/b> of the wallets (?:is|are) in danger/.exec(body)?.[1]
        })
      assert.isUndefined(yield* counted(safe, known))
      assert.strictEqual(yield* counted(safe, known, locked), "1 name")
      assert.strictEqual(yield* counted(safe, known, locked, lost), "2 names")
    }))

  it.effect("the overview shows 16 peers and says how many more there are", () =>
    Effect.gen(function*() {
      const handler = yield* statusPageOf(Array.from({ length: 125 }, (_, id) => peer(id)))
      const page = yield* get(handler, "/")
      assert.lengthOf(page.body.match(/class="address">/g) ?? [], 16)
      assert.include(page.body, "and 109 more")
      const calm = yield* get(yield* statusPageOf(), "/")
      assert.include(calm.body, "No peers are connected")
      assert.include(
        calm.body,
        "<h2 id=\"status-title\"><span class=\"dot\" aria-hidden=\"true\"></span>No peers</h2>"
      )
    }))

  it.effect("every name has a page with its state, its record and its history, and an expired one resolves to nothing", () =>
    Effect.gen(function*() {
      const { names: answers } = yield* MethodNode
      const handler = yield* statusPageOf()
      for (const each of names) {
        const name = bytesOf(stringAt(each, "nameHex"))
        const page = yield* get(handler, linkTo(name))
        assert.strictEqual(page.status, 200)
        assertHarmless(page)
        assertTables(page)
        const expired = at(each, "show", "expired") === true
        const { findings, programs } = lint(name, (yield* answers.resolve(name)).value)
        const told = programs.filter(({ sees }) => sees.length > 0)
        const { body } = page
        const history = items(at(each, "history")).length
        const address = stringAt(each, "show", "address")
        assert.deepStrictEqual({
          rows: body.match(/class="when"/g)?.length,
          dates: body.match(/<\/time> <span class="date">\d{4}-\d\d-\d\d \d\d:\d\d UTC<\/span>/g)?.length,
          txid: body.includes(stringAt(each, "show", "txid")),
          address: body.includes(address === "<nonstandard>" ? "a script without an address" : address),
          total: body.includes(`<dd>${history}, <a`),
          locked: /<dt>((?:Was l|L)ocked)<\/dt>/.exec(body)?.[1],
          expired: /class="name-head".*?<span class="badge (\w+)">/s.exec(body)?.[1] === "attention",
          nothing: body.includes("<b>Nothing.</b> Resolvers, browsers and other programs treat an expired name"),
          programs: body.includes("What programs see"),
          resolves: body.includes("<dt>DNS</dt>") || body.includes("<dt>Tor</dt>"),
          free: body.includes("Anyone can register this name")
        }, {
          rows: Math.min(20, history),
          // One for each row, and the one of the record.
          dates: Math.min(20, history) + 1,
          txid: true,
          address: true,
          total: true,
          locked: expired ? "Was locked" : "Locked",
          expired,
          nothing: expired,
          programs: expired || classify(name) !== "nonstandard" || told.length > 0 || findings.length > 0,
          resolves: !expired && told.some(({ program }) => ["DNS", "Tor"].includes(program)),
          free: expired && nameFault(name) === undefined && name.length > 0
        })
      }
    }))

  it.effect("the history says what each operation did, in the words of all surfaces", () =>
    Effect.gen(function*() {
      const handler = yield* statusPageOf()
      let fresh = 0
      for (const each of names) {
        const { body } = yield* get(handler, linkTo(bytesOf(stringAt(each, "nameHex"))))
        const deeds = [...body.matchAll(/class="deed"><a [^>]*>([^<]*)</g)].map(([, deed = ""]) => deed)
        const history = items(at(each, "history")).toReversed()
        for (const [row, deed] of deeds.entries()) {
          if (deed === "registered" || deed === "registered again") continue
          const [now, before] = [history[row] ?? assert.fail(), history[row + 1] ?? assert.fail()]
          const same = (member: string) => stringAt(now, member) === stringAt(before, member)
          // The recorded answers do not tell scripts without an address apart.
          if (same("address") && stringAt(now, "address") === "<nonstandard>") continue
          const moved = same("value") ? "transferred" : "transferred, value changed"
          const kept = same("value") ? "renewed" : stringAt(now, "value") === "" ? "value removed" : "value changed"
          assert.strictEqual(deed, same("address") ? kept : moved)
          if (same("value") && !same("address")) fresh++
        }
      }
      assert.isAbove(fresh, 100)
    }))

  it.effect("an unregistered name is not found, and registered names with that prefix are listed", () =>
    Effect.gen(function*() {
      const handler = yield* statusPageOf()
      const page = yield* get(handler, "/?name=d/")
      assert.strictEqual(page.status, 404)
      assertGuarded(page)
      assert.include(page.body, "No block up to 600 registers this name.")
      assert.isAbove(expiredAmong(page.body).length, 5)
      assert.notInclude(expiredAmong(page.body), true)
      const absent = yield* get(handler, "/?name=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%E2%80%AE")
      assertHarmless(absent)
      assert.include(absent.body, "&lt;img src=x onerror=alert(1)&gt;<span class=\"mark\">U+202E</span>")
      assert.notInclude(absent.body, "begin like this")
    }))

  it.effect("while the node is syncing, what is not found may be found later", () =>
    Effect.gen(function*() {
      const handler = yield* statusPageOf([], { syncing: true })
      for (const target of ["/?name=d/no-such-name", "/?q=no-such-name"]) {
        const page = yield* get(handler, target)
        assert.deepStrictEqual([page.status, page.headers["Retry-After"]], [503, "60"], target)
        assert.match(page.body, /not known yet/i)
      }
      assert.strictEqual((yield* get(handler, "/?name=d/sierrabd83")).status, 200)
    }))

  it.effect("a search for a height without a block names the last block", () =>
    Effect.gen(function*() {
      const { body, status } = yield* get(yield* statusPageOf(), "/?q=99999999")
      assert.strictEqual(status, 503)
      assert.match(body, /Block 99,999,999 does not exist; the latest is <a [^>]*>600<\/a>\./)
      const syncing = yield* get(yield* statusPageOf([], { syncing: true }), "/?q=99999999")
      assert.include(syncing.body, "Block 99,999,999 does not exist yet;")
    }))

  it.effect("a search redirects to the single matching name, by its text, domain or bytes", () =>
    Effect.gen(function*() {
      const handler = yield* statusPageOf()
      for (const typed of ["d/sierrabd83", "sierrabd83", "SierraBD83.bit", "http://www.sierrabd83.bit/x"]) {
        const page = yield* get(handler, `/?q=${encodeURIComponent(typed)}`)
        assert.strictEqual(page.status, 303, typed)
        assert.strictEqual(page.headers["Location"], "?name=d%2Fsierrabd83")
        assertGuarded(page)
      }
      assert.strictEqual((yield* get(handler, "/?q=0xcc")).headers["Location"], "?hex=cc")
    }))

  it.effect("a search without a name lists names with that prefix, up to a limit", () =>
    Effect.gen(function*() {
      const handler = yield* statusPageOf()
      const page = yield* get(handler, "/?q=d/p")
      // The index of texts is still empty, and the page says so.
      assert.strictEqual(page.status, 503)
      assert.include(page.body, "it has 0 % of the names so far")
      assert.include(page.body, "No registered name found so far.")
      assertGuarded(page)
      assertHarmless(page)
      assert.include(page.body, "value=\"d/p\"")
      const shown = page.body.match(/href="\?name=d%2Fp/g) ?? []
      assert.isAbove(shown.length, 0)
      assert.isAtMost((yield* get(handler, "/?q=d/")).body.match(/last changed at block/g)?.length ?? 0, 20)
      assert.include((yield* get(handler, "/?q=d/")).body, "There are more")
      const nasty = yield* get(handler, `/?q=${encodeURIComponent("\"><script>alert(1)</script>")}`)
      assertHarmless(nasty)
      assert.include(nasty.body, "value=\"&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;\"")
    }))

  it.effect("a search finds names by what they say, in pages", () =>
    Effect.gen(function*() {
      const handler = yield* statusPageOf()
      // Blocks that arrive meanwhile put the background off.
      const found = (query: string) => get(handler, `/?q=${query}`)
      yield* eventually(
        "the search indexes are built",
        Effect.zipRight(
          TestClock.adjust("2 seconds"),
          Effect.map(found("text:sierrabd"), ({ body }) => body.includes("href=\"?name=d%2Fsierrabd83\""))
        )
      )
      const all = yield* found("text:d/s")
      assert.strictEqual(all.status, 200)
      assertGuarded(all)
      assertHarmless(all)
      assert.notInclude(all.body, "No such name")
      const nothing = yield* found("text:no-such-text-anywhere")
      assert.include(nothing.body, "No registered name contains this text")
      const [registered, expired] = [
        expiredAmong((yield* found("text:onion")).body),
        expiredAmong((yield* found("text:onion&expired=1")).body)
      ]
      assert.isNotEmpty(registered)
      assert.isNotEmpty(expired)
      assert.notInclude(registered, true)
      assert.notInclude(expired, false)
      const owner = yield* found("ip:")
      assert.strictEqual(owner.status, 200)
      const wrong = yield* found("text:sierra&after=1.key.1.00")
      assert.strictEqual(wrong.status, 400)
      assert.include(wrong.body, "the cursor is not one of this query")
    }))

  it.effect("an invalid query is refused with an explanation", () =>
    Effect.gen(function*() {
      const handler = yield* statusPageOf()
      const wrong = yield* get(handler, "/?hex=xyz")
      assert.strictEqual(wrong.status, 400)
      assert.include(wrong.body, "hexadecimal")
      assertGuarded(wrong)
      const behind = yield* get(handler, "/?name=d/sierrabd83&page=9")
      assert.strictEqual(behind.status, 404)
      assert.include(behind.body, "that many pages")
    }))

  it.effect("the overview is made once for all callers within its lifetime", () =>
    Effect.gen(function*() {
      let made = 0
      const manager = peerManager({ peers: Effect.sync(() => (made++, [])) })
      const pageFor = (overviewMs: number) => pagesOf({ overviewMs, manager })
      const slow = yield* pageFor(60_000)
      yield* Effect.forEach([1, 2, 3, 4], () => get(slow, "/"), { concurrency: "unbounded" })
      assert.strictEqual(made, 1)
      const quick = yield* pageFor(0)
      yield* get(quick, "/")
      yield* get(quick, "/")
      assert.strictEqual(made, 3)
    }))

  it.effect("a failure is a page too, and reveals no internal details", () =>
    Effect.gen(function*() {
      const { names } = yield* MethodNode
      const pageFor = (resolve: typeof NameDb.Service["resolve"]) => pagesOf({ names: { ...names, resolve } })
      const failure = new StorageUnavailable({ file: "names.db", doing: "reading", reason: "<disk> gone" })
      const failing = yield* get(yield* pageFor(() => failure), "/?name=d/a")
      assert.strictEqual(failing.status, 500)
      assert.include(failing.body, "&lt;disk&gt; gone")
      assertGuarded(failing)
      const broken = yield* get(yield* pageFor(() => Effect.die(new Error("secret"))), "/?name=d/a").pipe(
        Effect.provide(Logger.remove(Logger.defaultLogger))
      )
      assert.strictEqual(broken.status, 500)
      assert.notInclude(broken.body, "secret")
      assertGuarded(broken)
    }))
})
