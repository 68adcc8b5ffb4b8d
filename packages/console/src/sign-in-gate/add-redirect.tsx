import { Button } from '@mantine/core'
import { patchSignInApplicationsById } from '../api/generated/sdk.gen.ts'
import type { SignInApplication } from '../api/generated/types.gen.ts'
import { Fault } from '../kit/confirm.tsx'
import { useAction } from '../kit/use-action.ts'
import { texts } from './texts.ts'

const { test: words } = texts

interface AddRedirectProps {
  readonly application: SignInApplication
  readonly uri: string
}

/** The one thing that is put right here rather than there. */
export function AddRedirect({ application: { id, redirect_uris: uris }, uri }: AddRedirectProps) {
  const add = useAction({
    run: () =>
      patchSignInApplicationsById({
        path: { id },
        body: { redirect_uris: [...uris, uri] },
        throwOnError: true,
      }),
    done: words.redirectAdded,
    changes: [['sign_in_applications']],
    showsFailure: true,
  })
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        loading={add.isPending}
        disabled={uris.includes(uri)}
        onClick={() => add.mutate()}
      >
        {words.addRedirect}
      </Button>
      <Fault error={add.error} />
    </>
  )
}
