import { assert, describe, it } from "@effect/vitest"
import type { UserRight } from "../../src/config/accessKinds.ts"
import { DeskSessions, MOST_SESSIONS } from "../../src/desk/sessions.ts"

const OPERATOR = { user: "operator", permitted: undefined }
const READER = { user: "reader", permitted: { methods: new Set(["getblockcount"]), rights: new Set<UserRight>() } }

describe("DeskSessions", () => {
  it("end for further log-ins of the user with the most, however many there are", () => {
    const sessions = new DeskSessions()
    const { session, token } = sessions.begin("password", OPERATOR, 0)
    const tokens = Array.from({ length: MOST_SESSIONS * 2 }, (_, at) => sessions.begin("password", READER, at).token)
    assert.strictEqual(sessions.find(token, 100), session)
    const left = tokens.filter((each) => sessions.find(each, 100) !== undefined)
    assert.deepStrictEqual(left, tokens.slice(-(MOST_SESSIONS - 1)))
  })

  it("have a cookie with a name of the process, so that two nodes of one machine keep theirs apart", () => {
    const [one, other] = [new DeskSessions(), new DeskSessions()]
    const tokens = (token: string) => ({ token, reader: `${token} reads` })
    const jar = [one.cookies(tokens("a"), { secure: false }), other.cookies(tokens("b"), { secure: false })].flat().map(
      (cookie) => cookie.split(";")[0]
    ).join("; ")
    assert.deepStrictEqual([one.tokenOf(jar), other.tokenOf(jar)], ["a", "b"])
  })
})
