import { Button } from '@mantine/core'
import { PlusIcon } from '@primer/octicons-react'
import type { ReactNode } from 'react'

interface CreateButtonProps {
  /** Whether the session has the permission. */
  readonly may: boolean
  /** What is said to whoever has not. */
  readonly refusal: string
  readonly onClick: () => void
  readonly children: ReactNode
}

/** The button of a list that creates one more. */
export function CreateButton({ may, refusal, onClick, children }: CreateButtonProps) {
  return (
    <Button
      leftSection={<PlusIcon />}
      disabled={!may}
      title={may ? undefined : refusal}
      onClick={onClick}
    >
      {children}
    </Button>
  )
}
