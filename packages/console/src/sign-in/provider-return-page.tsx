/* Where the identity provider sends the browser back to: ends what it was left for, or says why that failed. */
import { Anchor, Loader, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { Fault } from '../kit/confirm.tsx'
import { useTaken } from '../kit/use-taken.ts'
import { forgetDeparture, readDeparture, returnFromProvider } from './provider-calls.ts'
import classes from './sign-in-page.module.css'
import { SignInTitle } from './sign-in-title.tsx'
import { texts } from './texts.ts'
import { noteTried } from './tried-page.ts'

export function ProviderReturnPage() {
  const answer = useTaken(readAnswer, clearAnswer)
  const { purpose, next } = useTaken(readDeparture, forgetDeparture)
  const { isSuccess, error } = useQuery({
    queryKey: ['session', 'return', answer['state'] ?? ''],
    queryFn: () => returnFromProvider(answer),
    retry: false,
    // An answer is good once.
    staleTime: 'static',
  })
  useEffect(() => {
    if (!isSuccess) return
    noteTried(undefined)
    globalThis.location.assign(next)
  }, [isSuccess, next])
  const words = texts.atProvider[purpose]
  return (
    <main className={classes.side}>
      <Stack gap="lg" className={classes.form}>
        <img src="/console/heliograph.svg" className={classes.mark} alt="" />
        <SignInTitle title={error === null ? words.under : words.failed} />
        {error === null ? (
          <Loader aria-label={words.under} />
        ) : (
          <>
            <Fault error={error} />
            <Text>
              <Anchor href={purpose === 'sign_in' ? '/console/sign-in' : next}>{words.back}</Anchor>
            </Text>
          </>
        )}
      </Stack>
    </main>
  )
}

function readAnswer(): Readonly<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(globalThis.location.search))
}

/** Removes the code from the address, so that it is in no history. */
function clearAnswer(): void {
  globalThis.history.replaceState(null, '', globalThis.location.pathname)
}
