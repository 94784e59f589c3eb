import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync } from "node:fs"
import { quiet, relayAt, untilQueued } from "../../support/mailRelay.ts"
import { sendMail, TestUpstream } from "../../support/smtp.ts"
import { withDirectoryAsync } from "../../support/temporary.ts"
import { TsProcess } from "../../support/tsProcess.ts"

const SCRIPT = new URL("./relayProcess.ts", import.meta.url)

const start = async (spool: string, upstream: TestUpstream): Promise<{ relay: TsProcess; port: number }> => {
  const relay = new TsProcess(SCRIPT, [spool, String(upstream.port)])
  await relay.says(".\n")
  return { relay, port: Number(/port (\d+)/.exec(relay.stdout)?.[1]) }
}

const letter = (id: number): string =>
  `Message-ID: <${id}@example.org>\r\nSubject: x\r\n\r\n${"a line of text\r\n".repeat(id % 7 === 0 ? 30_000 : 20)}`

const idsOf = (upstream: TestUpstream): ReadonlyArray<number> =>
  upstream.messages.map(({ text }) => Number(/^Message-ID: <(\d+)@/m.exec(text)?.[1]))

describe("a killed relay", () => {
  it("delivers every accepted message, complete, after its restart", async () => {
    const upstream = new TestUpstream()
    await upstream.listen()
    try {
      await withDirectoryAsync(async (spool) => {
        const taken = new Set<number>()
        let next = 0
        let killed = false
        const { port, relay } = await start(spool, upstream)
        const client = async (): Promise<void> => {
          while (!killed) {
            const id = next++
            const { code } = await sendMail(port, { to: ["alice@bit"], text: letter(id) })
            if (code === 250) taken.add(id)
            if (taken.size === 24 && !killed) {
              killed = true
              relay.child.kill("SIGKILL")
            }
          }
        }
        // Messages that the upstream server deferred are in the spool when the relay is killed.
        upstream.behaviour = { rcpt: () => next % 2 === 0 ? "451 4.2.1 busy" : undefined }
        await Promise.all(Array.from({ length: 6 }, client))
        assert.strictEqual(await relay.ended, "SIGKILL")
        assert.isAbove(readdirSync(spool).filter((file) => file.endsWith(".msg")).length, 0)
        upstream.behaviour = {}
        await Effect.runPromise(
          Effect.scoped(Effect.gen(function*() {
            const { stats } = yield* relayAt(spool, upstream.port)
            for (const file of readdirSync(spool)) assert.notMatch(file, /\.part$/)
            yield* untilQueued(stats, 0)
          })).pipe(Effect.provide(quiet))
        )
        const arrived = idsOf(upstream)
        for (const id of taken) assert.isTrue(arrived.includes(id), `message ${id} arrives`)
        for (const [index, id] of arrived.entries()) {
          assert.isTrue(upstream.messages[index]?.text.endsWith(letter(id)), `message ${id} arrives whole`)
        }
      })
    } finally {
      await upstream.stop()
    }
  })
})
