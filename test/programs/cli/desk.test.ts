import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { openBrowser } from "../../../src/programs/cli/openBrowser.ts"
import { RpcFailure } from "../../../src/rpc/RpcClient.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { eventually } from "../../support/eventually.ts"
import { runWith } from "./commandRun.ts"

const PATH = `/desk/open?link=${"x".repeat(43)}`

const LINK = { createdesklink: { path: PATH, expires_in: 600, behind_proxy: false } }

const OFF = { createdesklink: new RpcFailure({ code: -1, message: "the desk is off" }) }

describe("svcd-cli desk", () => {
  it.effect("prints the link alone, and beside it how long it works", () =>
    Effect.gen(function*() {
      const { notes, run, sent } = runWith(LINK)
      assert.deepStrictEqual(yield* run("desk"), { code: 0, stderr: "", stdout: `http://127.0.0.1:8336${PATH}\n` })
      assert.deepStrictEqual(notes, ["Open this link in a browser within ten minutes. It works once."])
      assert.deepStrictEqual(sent("createdesklink"), [[]])
      const { stdout } = yield* run("desk", "-json")
      assert.deepStrictEqual(JSON.parse(stdout), { link: `http://127.0.0.1:8336${PATH}`, expires_in: 600 })
    }))

  it.effect("says which line turns the desk on, and that another daemon has none", () =>
    Effect.gen(function*() {
      const off = yield* runWith(OFF).run("desk")
      assert.deepStrictEqual([off.code, off.stdout], [1, ""])
      assert.include(off.stderr, "the desk is off\nAdd the line \"webwallet = true\" to /nowhere/svcd.conf")
      const other = yield* runWith({}).run("desk")
      assert.deepStrictEqual([other.code, other.stdout], [1, ""])
      assert.include(other.stderr, "another program, or an older svcd")
    }))

  it.effect("prints the tunnel to a daemon on another machine, and to this one over SSH", () =>
    Effect.gen(function*() {
      const far = runWith(LINK, { rpc: { host: "192.0.2.7", port: 18_336 } })
      assert.strictEqual((yield* far.run("desk")).stdout, `http://127.0.0.1:18336${PATH}\n`)
      assert.include(far.notes.join("\n"), "ssh -N -L 18336:127.0.0.1:18336 192.0.2.7")
      const ssh = runWith(LINK, { env: { SSH_CONNECTION: "198.51.100.4 50000 192.0.2.9 22" } })
      yield* ssh.run("desk")
      assert.include(ssh.notes.join("\n"), "ssh -N -L 8336:127.0.0.1:8336 192.0.2.9")
      const [local] = runWith(LINK, { rpc: { host: "::1", port: 8336 } }).notes
      assert.isUndefined(local)
    }))

  it.effect("puts the link below the address of a proxy, which must use HTTPS", () =>
    Effect.gen(function*() {
      const proxied = { createdesklink: { ...LINK.createdesklink, behind_proxy: true } }
      const plain = runWith(proxied)
      yield* plain.run("desk")
      assert.include(plain.notes.join(), "add -url https://HOST")
      for (const url of ["https://names.example.org", "https://names.example.org/"]) {
        const { notes, run } = runWith(proxied)
        assert.strictEqual((yield* run("desk", "-url", url)).stdout, `https://names.example.org${PATH}\n`)
        assert.notInclude(notes.join(), "-url")
      }
      const below = yield* runWith(proxied).run("desk", "-url", "https://example.org/svcd/")
      assert.strictEqual(below.stdout, `https://example.org/svcd${PATH}\n`)
      for (
        const url of ["http://names.example.org", "names.example.org", "https://a:b@example.org", "javascript:1", ""]
      ) {
        const { run, sent } = runWith(proxied)
        const wrong = yield* run("desk", "-url", url)
        assert.deepStrictEqual([wrong.code, wrong.stdout, sent("createdesklink")], [2, "", []], url)
      }
    }))

  it.effect("prints the link and fails if -open finds no browser", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* runWith(LINK).run("desk", "-open")
      assert.deepStrictEqual([code, stdout], [1, `http://127.0.0.1:8336${PATH}\n`])
      assert.include(stderr, "no desktop here")
    }))
})

describe("openBrowser", () => {
  const opener = (text: string) =>
    Effect.map(temporaryDirectory, (folder) => {
      const file = join(folder, "xdg-open")
      writeFileSync(file, `#!/bin/sh\n${text}\n`)
      chmodSync(file, 0o755)
      return { folder, env: { PATH: `${folder}:/usr/bin:/bin`, DISPLAY: ":0" } }
    })

  const ADDRESS = "http://127.0.0.1:8336/desk/open?link=a&b=c;d"

  const filesIn = (folder: string) => readdirSync(folder).filter((name) => name.endsWith(".html"))

  it.scopedLive("gives the browser a private file with the address, which is gone soon", () =>
    Effect.gen(function*() {
      const { env, folder } = yield* opener("cd \"$(dirname \"$0\")\"; printf %s \"$*\" > given; cp -p \"$1\" page")
      const homedir = yield* temporaryDirectory
      assert.isUndefined(yield* openBrowser(ADDRESS, { platform: "linux", env, homedir, patience: 200 }))
      const given = readFileSync(join(folder, "given"), "utf8")
      assert.match(given, /\/svcd-desk-[\w-]{8}\.html$/)
      assert.strictEqual(dirname(given), homedir)
      const page = readFileSync(join(folder, "page"), "utf8")
      assert.include(page, `content="0;url=${ADDRESS.replace("&", "&amp;")}"`)
      assert.strictEqual(statSync(join(folder, "page")).mode & 0o777, 0o600)
      yield* eventually("the end of the file", Effect.sync(() => filesIn(homedir).length === 0))
    }))

  it.scopedLive("says why none opened, and leaves no file", () =>
    Effect.gen(function*() {
      const homedir = yield* temporaryDirectory
      const { env } = yield* opener("exit 3")
      assert.strictEqual(
        yield* openBrowser(ADDRESS, { platform: "linux", env, homedir }),
        "xdg-open found no browser (status 3)"
      )
      const none = { platform: "linux", env: { PATH: "/nowhere", DISPLAY: ":0" }, homedir } as const
      assert.strictEqual(yield* openBrowser(ADDRESS, none), "xdg-open is not installed")
      assert.include(
        yield* openBrowser(ADDRESS, { platform: "linux", env: { PATH: "/nowhere" }, homedir }),
        "no desktop here"
      )
      assert.strictEqual(
        yield* openBrowser(ADDRESS, { platform: "darwin", env: { PATH: "/nowhere" }, homedir }),
        "open is not installed"
      )
      assert.deepStrictEqual(filesIn(homedir), [])
      assert.include(yield* openBrowser(ADDRESS, { platform: "linux", env, homedir: "/nonexistent" }), "/nonexistent: ")
    }))
})
