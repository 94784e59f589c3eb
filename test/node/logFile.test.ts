import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { join } from "node:path"
import * as LogFile from "../../src/node/logFile.ts"
import { eventually } from "../support/eventually.ts"
import { canMount, smallDisk } from "../support/smallDisk.ts"
import { withDirectory, withDirectoryAsync } from "../support/temporary.ts"
import { TsProcess } from "../support/tsProcess.ts"

const opened = (path: string, options: Partial<LogFile.LogFileOptions> = {}) => {
  const complaints: Array<string> = []
  const file = new LogFile.LogFile({ path, complain: (message) => void complaints.push(message), ...options })
  return { file, complaints }
}

const linesOf = (path: string): ReadonlyArray<string> => readFileSync(path, "utf8").split("\n").slice(0, -1)

/** A failure as the operating system reports it. */
const failing = (code: string) => Object.assign(new Error(code), { code })

describe("LogFile", () => {
  it("appends to an existing file, readable only by its owner, and creates missing directories", () =>
    withDirectory((directory) => {
      const path = join(directory, "var", "log", "svcd.log")
      const first = opened(path)
      first.file.writeLine("a")
      assert.strictEqual(readFileSync(path, "utf8"), "a\n")
      first.file.close()
      const second = opened(path)
      second.file.writeLine("é")
      second.file.close()
      assert.deepStrictEqual(linesOf(path), ["a", "é"])
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      assert.strictEqual(statSync(join(directory, "var")).mode & 0o777, 0o700)
    }))

  it("keeps the mode of an existing file", () =>
    withDirectory((directory) => {
      const path = join(directory, "a.log")
      writeFileSync(path, "")
      chmodSync(path, 0o640)
      opened(path).file.close()
      assert.strictEqual(statSync(path).mode & 0o777, 0o640)
    }))

  it("continues in a new file after a rename of the old one and a reopen", () =>
    withDirectory((directory) => {
      const [path, rotated] = [join(directory, "a.log"), join(directory, "a.log.1")]
      const { file } = opened(path)
      file.writeLine("1")
      renameSync(path, rotated)
      file.writeLine("2")
      assert.isUndefined(file.reopen())
      file.writeLine("3")
      file.close()
      assert.deepStrictEqual([linesOf(rotated), linesOf(path)], [["1", "2"], ["3"]])
    }))

  it("stays in its file if the path cannot be reopened", () =>
    withDirectory((directory) => {
      const [path, rotated] = [join(directory, "a.log"), join(directory, "a.log.1")]
      const { file } = opened(path)
      renameSync(path, rotated)
      mkdirSync(path)
      assert.strictEqual(file.reopen(), "it is a directory")
      file.writeLine("1")
      file.close()
      assert.deepStrictEqual(linesOf(rotated), ["1"])
    }))

  it("drops lines after its end", () =>
    withDirectory((directory) => {
      const path = join(directory, "a.log")
      const { complaints, file } = opened(path)
      file.writeLine("1")
      file.close()
      file.writeLine("2")
      assert.deepStrictEqual([linesOf(path), complaints], [["1"], []])
    }))

  it("reports a write failure once, continues, and reports the number of lost lines", () =>
    withDirectory((directory) => {
      const path = join(directory, "a.log")
      let room = 4
      // A disk with room for so many bytes.
      const write = (file: number, bytes: Uint8Array): number => {
        if (room === 0) throw failing("ENOSPC")
        const taken = writeSync(file, bytes.subarray(0, room))
        room -= taken
        return taken
      }
      const { complaints, file } = opened(path, { write })
      for (const line of ["ab", "cd", "ef"]) file.writeLine(line)
      assert.deepStrictEqual(complaints, [`log file ${path} cannot be written: the disk is full; the node continues`])
      room = 100
      for (const line of ["gh", "ij"]) file.writeLine(line)
      assert.deepStrictEqual(complaints.slice(1), [`log file ${path} can be written again; lines lost: 2`])
      // The line that the full disk cut is ended before the next begins.
      assert.deepStrictEqual(linesOf(path), ["ab", "c", "gh", "ij"])
      file.close()
    }))

  it.scopedLive.skipIf(!canMount)("survives a full disk", () =>
    Effect.gen(function*() {
      const disk = yield* smallDisk("64k")
      const path = join(disk.path, "a.log")
      const { complaints, file } = opened(path)
      file.writeLine("before")
      disk.fill()
      for (let i = 0; i < 5_000; i++) file.writeLine(`line ${i}`)
      assert.lengthOf(complaints, 1)
      assert.include(complaints[0], "the disk is full")
      disk.remount("size=1m")
      file.writeLine("after")
      file.close()
      assert.strictEqual(linesOf(path).at(-1), "after")
      assert.match(complaints[1] ?? "", /lines lost: \d+$/)
    }))

  const reasonFor = (path: string) =>
    Effect.map(Effect.flip(Effect.scoped(LogFile.open({ path, complain: () => {} }))), ({ message }) => message)

  it.effect("reports why it cannot be opened, and the option for another path", () =>
    Effect.promise(() =>
      withDirectoryAsync(async (directory) => {
        assert.strictEqual(
          await Effect.runPromise(reasonFor(directory)),
          `log file ${directory}: it is a directory; check -logfile`
        )
        writeFileSync(join(directory, "file"), "")
        assert.include(await Effect.runPromise(reasonFor(join(directory, "file", "a.log"))), "is not a directory")
      })
    ))

  it.effect.skipIf(process.platform === "win32")(
    "does not wait for the reader of a pipe",
    () =>
      Effect.promise(() =>
        withDirectoryAsync(async (directory) => {
          const pipe = join(directory, "pipe")
          execFileSync("mkfifo", [pipe])
          assert.include(await Effect.runPromise(reasonFor(pipe)), "no process reads from the pipe")
        })
      )
  )

  it.effect("is closed with its scope", () =>
    Effect.promise(() =>
      withDirectoryAsync((directory) =>
        Effect.runPromise(Effect.gen(function*() {
          const scope = yield* Scope.make()
          const path = join(directory, "a.log")
          const file = yield* Scope.extend(LogFile.open({ path, complain: () => {} }), scope)
          file.writeLine("1")
          yield* Scope.close(scope, Exit.void)
          file.writeLine("2")
          assert.deepStrictEqual(linesOf(path), ["1"])
        }))
      )
    ))
})

/** Waits until a process has written three lines to a log. */
const hasLogged = (program: TsProcess, path: string): Promise<void> =>
  Effect.runPromise(eventually(`lines in ${path}`, () => {
    assert.isNull(program.child.exitCode, program.stderr)
    return existsSync(path) && linesOf(path).length >= 3
  }))

describe("SIGHUP", () => {
  it.live("moves the log to a new file without losing lines; without a log file it ends nothing", () =>
    Effect.promise(() =>
      withDirectoryAsync(async (directory) => {
        const [path, rotated] = [join(directory, "svcd.log"), join(directory, "svcd.log.1")]
        const program = new TsProcess(new URL("talk.ts", import.meta.url), [path])
        const other = new TsProcess(new URL("talk.ts", import.meta.url), [])
        await hasLogged(program, path)
        renameSync(path, rotated)
        program.child.kill("SIGHUP")
        await hasLogged(program, path)
        program.child.stdin.write("stop\n")
        assert.strictEqual(await program.ended, 7)
        assert.strictEqual(program.stdout, "")

        assert.sameMembers(readdirSync(directory), ["svcd.log", "svcd.log.1"])
        assert.match(linesOf(path)[0] ?? "", / info {2}log file reopened file=/)
        const counts = [...linesOf(rotated), ...linesOf(path)].flatMap((line) => /count=(\d+)/.exec(line)?.[1] ?? [])
        assert.deepStrictEqual(counts, Array.from(counts, (_, at) => String(at)))

        await other.says("count=1")
        other.child.kill("SIGHUP")
        other.child.stdin.write("stop\n")
        assert.strictEqual(await other.ended, 7)
      })
    ))
})
