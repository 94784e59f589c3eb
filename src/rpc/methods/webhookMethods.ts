import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { escapeUnsafe } from "../../base/safeText.ts"
import type { StorageFailure } from "../../storage/errors.ts"
import type { WebhookRefused } from "../../webhooks/errors.ts"
import { isAccepted } from "../../webhooks/hookProgress.ts"
import type { HookView } from "../../webhooks/hookView.ts"
import type { HookAnswer } from "../../webhooks/post.ts"
import { Webhooks } from "../../webhooks/Webhooks.ts"
import { ADDWEBHOOK, LISTWEBHOOKS, REMOVEWEBHOOK, RESUMEWEBHOOK, TESTWEBHOOK } from "../contract/control/webhook.ts"
import { method } from "../method/method.ts"
import type { Methods } from "../method/methodTable.ts"
import { RpcError } from "../method/RpcError.ts"
import { storageError } from "./errors.ts"

/** Only in svcd (docs/webhooks.md). */

const webhookError = (failure: StorageFailure | WebhookRefused): RpcError => {
  if (failure._tag !== "WebhookRefused") return storageError(failure)
  switch (failure.why) {
    case "parameter":
      return RpcError.invalidParameter(failure.reason)
    case "missing":
      return RpcError.invalidAddressOrKey(failure.reason)
    case "state":
      return RpcError.misc(failure.reason)
  }
}

const secondsOf = (milliseconds: number | undefined): number | null =>
  milliseconds === undefined ? null : Math.floor(milliseconds / 1_000)

const viewJson = (view: HookView) => ({
  id: view.id,
  source: view.source,
  url: view.url,
  secret: view.state !== "unconfigured",
  name: view.filter.names,
  prefix: view.filter.prefixes,
  owner: view.filter.owners,
  types: view.filter.types,
  state: view.state,
  cursor: view.cursor,
  lag: view.lag,
  delivered: view.delivered,
  lastdelivered: secondsOf(view.deliveredAt),
  failures: view.failures,
  failingsince: secondsOf(view.failingSince),
  nextattempt: secondsOf(view.nextAttempt),
  lasterror: view.lastError ?? null,
  remedy: view.remedy ?? null
})

const answerJson = (answer: HookAnswer) =>
  answer._tag === "Answered"
    ? {
      accepted: isAccepted(answer),
      status: answer.status,
      milliseconds: Math.round(answer.milliseconds),
      body: escapeUnsafe(answer.body),
      error: null
    }
    : { accepted: false, status: null, milliseconds: null, body: null, error: answer.reason }

export const webhookMethods: Methods<Webhooks> = Effect.gen(function*() {
  const { add, list, remove, resume, test } = yield* Webhooks

  const addwebhook = method(ADDWEBHOOK, ({ options: { from, name, owner, prefix, secret, types }, url }) =>
    add({
      url,
      secret,
      from,
      filter: {
        names: name,
        prefixes: prefix,
        owners: owner,
        // As in the query of /events, one text can list several types.
        types: types.flatMap((list) => list.split(",")).map((type) => type.trim())
      }
    }).pipe(
      Effect.mapBoth({
        onFailure: webhookError,
        onSuccess: (added) => ({ id: added.id, secret: Redacted.value(added.secret) })
      })
    ))

  const listwebhooks = method(
    LISTWEBHOOKS,
    () => Effect.mapBoth(list, { onFailure: storageError, onSuccess: (views) => views.map(viewJson) })
  )

  const removewebhook = method(
    REMOVEWEBHOOK,
    ({ id }) => Effect.mapBoth(remove(id), { onFailure: webhookError, onSuccess: () => null })
  )

  const resumewebhook = method(
    RESUMEWEBHOOK,
    ({ id, options: { from } }) =>
      Effect.mapBoth(resume({ id, from }), { onFailure: webhookError, onSuccess: () => null })
  )

  const testwebhook = method(
    TESTWEBHOOK,
    ({ id }) => Effect.mapBoth(test(id), { onFailure: webhookError, onSuccess: answerJson })
  )

  return [addwebhook, listwebhooks, removewebhook, resumewebhook, testwebhook]
})
