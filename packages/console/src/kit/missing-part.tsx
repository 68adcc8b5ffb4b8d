/*
 * In place of a part of the console that could not be loaded: because an upgrade of the service has taken it away, or
 * because the service is away itself. The browser does not tell these apart, so the service is asked.
 */
import { Button, Center, Group, Loader } from '@mantine/core'
import { useCallback, useEffect, useState } from 'react'
import { hasUnsavedWork } from './held-page.ts'
import { FaultState } from './states.tsx'
import { texts } from './texts.ts'

export interface MissingProps {
  /** Answers whether the part has come. */
  readonly onRetry: () => Promise<boolean>
}

/** Why a part is missing. */
type Reason = 'newer_version' | 'unreachable' | 'unknown'

interface FoundMissing {
  /** Undefined while it is looked up, or while the page is about to be loaded anew. */
  readonly reason: Reason | undefined
  readonly isTrying: boolean
  readonly tryAgain: () => void
}

const ENTRY = /\/console\/assets\/index-[\w-]+\.js/
const ANSWER_MAX_MS = 10_000
const LOADED_ANEW = 'heliograph loaded anew for'

/**
 * Finds why a part is missing. Where the service has it, or a newer version of the console, the page is loaded anew,
 * unless that would lose what was typed: browsers keep in mind that a script could not be loaded, so that trying again
 * helps in some of them alone.
 */
export function useMissingPart(onRetry: MissingProps['onRetry'], mayReload: boolean): FoundMissing {
  const [reason, setReason] = useState<Reason>()
  const [isTrying, setTrying] = useState(true)
  const look = useCallback(
    async (isAsked: boolean) => {
      setTrying(true)
      const entry = await findServedEntry()
      if (entry !== undefined) {
        if (await onRetry()) return
        if (mayReload && !hasUnsavedWork() && (noteReload(entry) || isAsked)) {
          globalThis.location.reload()
          return
        }
      }
      setReason(entry === undefined ? 'unreachable' : isNewer(entry) ? 'newer_version' : 'unknown')
      setTrying(false)
    },
    [onRetry, mayReload],
  )
  useEffect(() => void look(false), [look])
  return { reason, isTrying, tryAgain: () => void look(true) }
}

/** The first script of the console that the service has now; undefined where it does not answer. */
export async function findServedEntry(): Promise<string | undefined> {
  try {
    const signal = AbortSignal.timeout(ANSWER_MAX_MS)
    const response = await fetch('/console/', { cache: 'no-store', signal })
    return response.ok ? ENTRY.exec(await response.text())?.[0] : undefined
  } catch {
    return undefined
  }
}

function isNewer(entry: string): boolean {
  return document.querySelector(`script[src$="${entry}"]`) === null
}

/**
 * Whether the page was not loaded anew for this yet: once for each newer version, at each address once for this one,
 * so that nothing goes in a circle.
 */
function noteReload(entry: string): boolean {
  const key = `${LOADED_ANEW} ${entry} ${isNewer(entry) ? '' : globalThis.location.pathname}`
  const isFirst = sessionStorage.getItem(key) === null
  sessionStorage.setItem(key, '')
  return isFirst
}

/** In place of a part of a page. */
export function MissingPart({ onRetry }: MissingProps) {
  return <Missing onRetry={onRetry} isPage={false} />
}

/** In place of a whole page. */
export function MissingPage({ onRetry }: MissingProps) {
  return <Missing onRetry={onRetry} isPage />
}

function Missing({ onRetry, isPage }: MissingProps & { readonly isPage: boolean }) {
  const found = useMissingPart(onRetry, true)
  const { reason } = found
  if (reason === undefined) {
    return (
      <Center p="lg">
        <Loader role="status" aria-label={texts.loading} />
      </Center>
    )
  }
  const { title, help } = texts.missing[reason]
  return (
    <FaultState title={title} told={help} isPage={isPage}>
      <Group gap="xs">
        <MissingActions {...found} />
      </Group>
    </FaultState>
  )
}

/** What can be done about a part that is missing. */
export function MissingActions({ reason, isTrying, tryAgain }: FoundMissing) {
  return (
    <>
      {reason === 'newer_version' ? null : (
        <Button variant="default" loading={isTrying} onClick={tryAgain}>
          {texts.retry}
        </Button>
      )}
      {reason === 'unreachable' ? null : (
        <Button variant="default" onClick={() => globalThis.location.reload()}>
          {texts.loadAnew}
        </Button>
      )}
    </>
  )
}
