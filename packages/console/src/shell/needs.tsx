import { Alert } from '@mantine/core'
import { LockIcon } from '@primer/octicons-react'
import { useMay } from './session.ts'
import { texts } from './texts.ts'

/** Says on a page of which nothing can be saved what access is missing, and who can give it. */
export function Needs({ permission }: { readonly permission: string }) {
  return useMay(permission) ? null : (
    <Alert icon={<LockIcon />} role="alert" color="yellow" title={texts.needs(permission)}>
      {texts.needsHelp}
    </Alert>
  )
}
