/* What is done to a record: sent, told, and what is shown of it read again. */
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query'
import { useRef } from 'react'
import { ApiError } from '../api/client.ts'
import { texts } from './texts.ts'

export interface Action<Input, Output> {
  /** Sends the request. */
  readonly run: (input: Input) => Promise<Output>
  /** What is told afterwards; nothing when left out. */
  readonly done?: string | ((output: Output, input: Input) => string)
  /** The beginnings of the keys of what has changed by it. */
  readonly changes: readonly QueryKey[]
  readonly onDone?: (output: Output, input: Input) => void
  /** The failure is shown where it was caused, so no notice tells it. */
  readonly showsFailure?: boolean
}

/**
 * A mutation with a notice when it is done or has failed; what it changed is read again. While it is under way the
 * same is not sent again: a second click may come before the button knows of the first.
 */
export function useAction<Input = void, Output = unknown>(action: Action<Input, Output>) {
  const queryClient = useQueryClient()
  const underWay = useRef(new Set<string>())
  const mutation = useMutation<Output, Error, Input>({
    mutationFn: action.run,
    onSuccess: (output, input) => {
      for (const queryKey of action.changes) void queryClient.invalidateQueries({ queryKey })
      const { done } = action
      if (done !== undefined) {
        notifications.show({ message: typeof done === 'string' ? done : done(output, input) })
      }
      action.onDone?.(output, input)
    },
    onError: (error) => {
      if (action.showsFailure !== true) showFailure(error)
    },
    onSettled: (_output, _error, input) => void underWay.current.delete(nameOf(input)),
  })
  const mutate = (input: Input, options?: Parameters<typeof mutation.mutate>[1]) => {
    if (underWay.current.has(nameOf(input))) return
    underWay.current.add(nameOf(input))
    mutation.mutate(...([input, options] as Parameters<typeof mutation.mutate>))
  }
  return { ...mutation, mutate: mutate as typeof mutation.mutate }
}

/** What tells one input from another. */
function nameOf(input: unknown): string {
  return JSON.stringify([input])
}

/** A notice with the words of the service. */
export function showFailure(error: unknown): void {
  const requestId = error instanceof ApiError ? error.requestId : undefined
  const told = error instanceof Error ? error.message : texts.actionFailed
  const message = requestId === undefined ? told : `${told} ${texts.quoteRequest(requestId)}`
  notifications.show({
    // While it is told it is not told again: the same would pile up over the page.
    id: message,
    color: 'red',
    title: texts.actionFailed,
    message,
    autoClose: 12_000,
  })
}
