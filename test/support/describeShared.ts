import { describe, it } from "@effect/vitest"
import { hasShared } from "./fixtures.ts"

/**
 * Describes what needs the shared fixtures from its first line on: the body of a `describe` that is skipped runs all the
 * same, to collect its tests. Skips visibly where the fixtures are not there.
 */
export const describeShared = (title: string, body: () => void): void => {
  if (hasShared) describe(title, body)
  else describe.skip(title, () => it("needs the shared fixtures", () => {}))
}
