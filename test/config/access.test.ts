import { assert, describe, it } from "@effect/vitest"
import { Either, Redacted } from "effect"
import { cookieOf } from "../../src/config/cookie.ts"
import { gather } from "../../src/config/gather.ts"
import { OPTIONS } from "../../src/config/options.ts"
import { printConfig } from "../../src/config/printConfig.ts"
import { DEFAULT_FILE, inputOf, problemsOf, settingsOf } from "./input.ts"

const HASH = "7681e9c5b74bdd85e78166031d2058e1069b3ed7ed967c93fc63abba06f31144"
const WRONG = "is not USER:SALT$HMAC with an HMAC of 64 hexadecimal digits; svcd-cli rpcauth makes such a line"

describe("rpcauth", () => {
  it("has users from flags or file", () => {
    const files = { [DEFAULT_FILE]: `rpcauth = ["rt:ab$${HASH}", "b$b:cd$${HASH}"]` }
    const users = settingsOf([], { files }).rpc.rpcAuth.map((user) => Redacted.value(user))
    assert.deepStrictEqual(users, [{ user: "rt", salt: "ab", hash: HASH }, { user: "b$b", salt: "cd", hash: HASH }])
    assert.strictEqual(settingsOf([`-rpcauth=c:ef$${HASH}`], { files }).rpc.rpcAuth.length, 1)
  })

  it.each(["", "geheim", "geheim:bar", "geheim:bar:baz", "geheim$bar:baz", "geheim$bar$baz", `geheim:a$${HASH}0`])(
    "refuses %j and does not show it",
    (text) => assert.deepStrictEqual(problemsOf([`-rpcauth=${text}`]), [`-rpcauth: ${WRONG}`])
  )

  it("is not shown by -printconfig", () => {
    const input = inputOf([])
    const given = new Map([["rpcauth", [`rt:ab$${HASH}`]]])
    const text = Either.getOrThrow(Either.map(gather(OPTIONS, given, input), (found) => printConfig(found, input)))
    assert.include(text, "# rpcauth is set, and not shown  # -rpcauth")
    assert.notInclude(text, HASH)
  })

  it("allows a listener that other machines can reach", () => {
    assert.strictEqual(settingsOf(["-rpcaddr=:8336", `-rpcauth=c:ef$${HASH}`]).rpc.listenAddr.host, "")
  })
})

describe("the cookie", () => {
  const COOKIE = { path: "/home/me/.svcd/.cookie", mode: 0o600 }
  const AUTH = `-rpcauth=c:ef$${HASH}`

  it.each<readonly [ReadonlyArray<string>, boolean]>([
    [[], false],
    [["-rpccookie"], true],
    [[AUTH], true],
    [["-rpcaddr=:8336"], true],
    [["-rpcaddr=:8336", "-rpcallowinsecure"], false],
    [["-rpcaddr=:8336", "-rpcallowinsecure", "-rpccookie"], true],
    [["-rpcuser=a", "-rpcpassword=b", AUTH], false],
    [["-rpcuser=a", "-rpcpassword=b", "-rpcaddr=:8336"], false],
    [[AUTH, "-rpccookiefile="], false]
  ])("%j: %s", (argv, made) => assert.deepStrictEqual(cookieOf(settingsOf(argv)), made ? COOKIE : undefined))

  it("is where the operator says, for the readers that the operator names", () => {
    const at = (...argv: ReadonlyArray<string>) => cookieOf(settingsOf(["-rpccookie", ...argv]))
    assert.strictEqual(at("-rpccookiefile=c", "-datadir=/data")?.path, "/data/c")
    assert.strictEqual(at("-rpccookiefile=/run/c")?.path, "/run/c")
    assert.strictEqual(at("-rpccookiefile=~/c")?.path, "/home/me/c")
    const modes = ["owner", "group", "all"].map((readers) => at(`-rpccookieperms=${readers}`)?.mode)
    assert.deepStrictEqual(modes, [0o600, 0o640, 0o644])
  })

  it.each<readonly [ReadonlyArray<string>, string]>([
    [["-rpccookie", "-rpccookiefile="], "-rpccookie: needs a file, and rpccookiefile is empty"],
    [
      ["-rpccookie", "-rpcuser=a", "-rpcpassword=b"],
      "-rpccookie: makes a password, and rpcpassword is set; give one of the two"
    ],
    [["-rpccookieperms=me"], "-rpccookieperms: \"me\" is not one of owner, group, all"]
  ])("refuses %j", (argv, problem) => assert.deepStrictEqual(problemsOf(argv), [problem]))
})

describe("permissions", () => {
  it("are read as upstream reads them", () => {
    const argv = ["a:", "b", "c:getblockcount,", "d:x, y,,x"].map((text) => `-rpcwhitelist=${text}`)
    const { methods, rpc } = settingsOf(["-rpccookie", ...argv, "-norpcwhitelistdefault", "-rpcrights=e:read,names"])
    assert.deepStrictEqual({ ...methods, rights: rpc.rights }, {
      whitelists: [
        { user: "a", words: [] },
        { user: "b", words: [] },
        { user: "c", words: ["getblockcount"] },
        { user: "d", words: ["x", "y", "x"] }
      ],
      rights: [{ user: "e", words: ["read", "names"] }],
      byDefault: false
    })
    assert.isTrue(settingsOf(["-rpccookie", "-rpcwhitelistdefault"]).methods.byDefault)
  })

  const OPEN = "is for users, and callers need no credentials; set rpccookie, rpcauth, or rpcuser and rpcpassword"

  it.each<readonly [ReadonlyArray<string>, string]>([
    [["-rpccookie", "-rpcwhitelist=:help"], "-rpcwhitelist: \":help\" is not USER:METHOD,METHOD"],
    ...["a", "a:", ":read", "a:read,write"].map((text) =>
      [
        ["-rpccookie", `-rpcrights=${text}`],
        `-rpcrights: "${text}" is not USER:RIGHT,RIGHT with rights of read, names, spend, admin`
      ] as const
    ),
    [["-rpcwhitelist=a:help"], `-rpcwhitelist: ${OPEN}`],
    [["-rpcrights=a:read"], `-rpcrights: ${OPEN}`]
  ])("refuses %j", (argv, problem) => assert.deepStrictEqual(problemsOf(argv), [problem]))
})

describe("listeners and their callers", () => {
  it("are read from flags", () => {
    const { rpc } = settingsOf([
      "-rpcbind=127.0.0.1:1",
      "-rpcbind=[::1]:2",
      ...["192.0.2.7", "192.0.2.0/24", "192.0.2.0/255.255.255.0", "0.0.0.0/0", "::/0", "[2001:db8::]/32"].map((net) =>
        `-rpcallowip=${net}`
      )
    ])
    assert.deepStrictEqual([rpc.listenAddr.port, ...rpc.binds.map(({ port }) => port)], [8336, 1, 2])
    assert.deepStrictEqual(rpc.allowed, [
      { address: "192.0.2.7", prefix: 32 },
      { address: "192.0.2.0", prefix: 24 },
      { address: "192.0.2.0", prefix: 24 },
      { address: "0.0.0.0", prefix: 0 },
      { address: "::", prefix: 0 },
      { address: "2001:db8::", prefix: 32 }
    ])
  })

  it("need credentials on every address that other machines can reach", () => {
    assert.isDefined(settingsOf(["-rpcbind=192.0.2.7:8336"]).cookie)
    assert.deepStrictEqual(problemsOf(["-rpcbind=192.0.2.7:8336", "-rpccookiefile="]), [
      "-rpcbind: 192.0.2.7:8336 is open to other machines, and there are no credentials; " +
      "set rpcuser and rpcpassword, or rpcauth, or rpccookiefile, or rpcallowinsecure"
    ])
  })

  const NO_NET = "is not an address, or a network such as 192.0.2.0/24 or 192.0.2.0/255.255.255.0"

  it.each<readonly [ReadonlyArray<string>, string]>([
    ...["", "localhost", "1.2.3.4/33", "1.2.3.4/255.0.255.0", "::1/129", "1.2.3.4/8/8", "1.2.3"].map((net) =>
      [[`-rpcallowip=${net}`], `-rpcallowip: "${net}" ${NO_NET}`] as const
    ),
    [["-rpcbind=127.0.0.1:8336"], "-rpcbind: 127.0.0.1:8336 is taken by rpcaddr 127.0.0.1:8336"],
    [["-rpcbind=127.0.0.1:8334"], "-rpcbind: 127.0.0.1:8334 is taken by listen :8334"],
    [["-rpcbind=127.0.0.1:9", "-metricsaddr=127.0.0.1:9"], "-metricsaddr: 127.0.0.1:9 is taken by rpcbind 127.0.0.1:9"],
    [["-rpcworkqueue=0"], "-rpcworkqueue: \"0\" is not a whole number from 1 to 100000"],
    [["-rpcservertimeout=0"], "-rpcservertimeout: \"0\" is not a whole number from 1 to 2000000"]
  ])("refuses %j", (argv, problem) => assert.deepStrictEqual(problemsOf(argv), [problem]))
})

describe("the desk", () => {
  it("is off, and asks every caller for credentials if it is on", () => {
    assert.isFalse(settingsOf([]).rpc.webWallet)
    const settings = settingsOf(["-webwallet"])
    assert.isTrue(settings.rpc.webWallet)
    assert.strictEqual(cookieOf(settings)?.path, "/home/me/.svcd/.cookie")
    assert.isUndefined(cookieOf(settingsOf(["-webwallet", "-rpcuser=a", "-rpcpassword=b"])))
  })

  it.each<readonly [ReadonlyArray<string>, ReadonlyArray<string>]>([
    [["-webwallet", "-rpccookiefile="], [
      "needs credentials to log in with, and rpccookiefile is empty; set rpcauth or rpcuser"
    ]],
    [["-webwallet", "-disablewallet"], ["is for wallets, and disablewallet turns them off"]],
    [
      ["-webwallet", "-rpcaddr=192.0.2.1:8336"],
      [
        "is for browsers of this machine, and RPC listens on 192.0.2.1:8336, which is open to others; listen on " +
        "127.0.0.1, or put a proxy with TLS in front and set webwalletproxy"
      ]
    ],
    [["-webwallet", "-webwalletproxy", "-rpcaddr=192.0.2.1:8336"], []]
  ])("%j: %j", (argv, problems) => {
    const found = problems.length === 0 ? (settingsOf(argv), []) : problemsOf(argv)
    assert.deepStrictEqual(found, problems.map((problem) => `-webwallet: ${problem}`))
  })
})
