import { Menu, UnstyledButton } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { PersonIcon, SignOutIcon } from '@primer/octicons-react'
import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { giveUpUnsavedWork, useHasUnsavedWork } from '../kit/held-page.ts'
import { LeaveDialog } from '../kit/unsaved-work.tsx'
import classes from './account-menu.module.css'
import { signOut, useSession } from './session.ts'
import { SIGN_IN_PATH } from './sign-in-path.ts'
import { texts } from './texts.ts'

/** The signed-in admin, and the way out. */
export function AccountMenu() {
  const session = useSession()
  const hasUnsavedWork = useHasUnsavedWork()
  const [isAsking, setAsking] = useState(false)
  const leave = useMutation({
    mutationFn: signOut,
    // The page is left, and with it everything that it has read.
    onSuccess: () => {
      giveUpUnsavedWork()
      globalThis.location.assign(SIGN_IN_PATH)
    },
    onError: ({ message }) =>
      notifications.show({ color: 'red', title: texts.notSignedOut, message, autoClose: 12_000 }),
  })
  if (session === null || session === undefined) return null
  const { first_name: firstName, last_name: lastName } = session.admin
  const name = `${firstName} ${lastName}`
  return (
    <>
      <Menu position="top-start" width={220}>
        <Menu.Target>
          <UnstyledButton className={classes.account}>
            <span className={classes.initials} aria-hidden>
              {initialsOf(name)}
            </span>
            <span className={classes.name}>{name}</span>
          </UnstyledButton>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>{session.admin.email}</Menu.Label>
          <Menu.Item component={Link} to="/settings/account" leftSection={<PersonIcon />}>
            {texts.account}
          </Menu.Item>
          <Menu.Item
            leftSection={<SignOutIcon />}
            onClick={() => (hasUnsavedWork ? setAsking(true) : leave.mutate())}
          >
            {texts.signOut}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <LeaveDialog
        isOpen={isAsking}
        onLeave={() => {
          setAsking(false)
          leave.mutate()
        }}
        onStay={() => setAsking(false)}
      />
    </>
  )
}

function initialsOf(name: string): string {
  const words = name.split(/\s+/).filter((word) => word !== '')
  return [words[0], words.length > 1 ? words.at(-1) : undefined]
    .map((word) => word?.[0]?.toUpperCase() ?? '')
    .join('')
}
