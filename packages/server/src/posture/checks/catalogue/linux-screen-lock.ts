import type { CatalogueEntry } from './catalogue-entry.ts'
import { quoteListSql, quoteSql, verdictSql } from './verdict-sql.ts'

/** Linux keeps this much of the name of a process. */
const NAME_LENGTH_MAX = 15

/** Desktops that lock by themselves, by settings in files that osquery cannot read (dconf, kscreenlockerrc). */
const SELF_LOCKING = [
  'budgie-wm',
  'cinnamon',
  'cosmic-comp',
  'gala',
  'gnome-shell',
  'kwin_wayland',
  'kwin_x11',
  'mate-session',
  'plasmashell',
]
/** Desktops and window managers under which nothing locks until another program does. */
const BARE = [
  'awesome',
  'bspwm',
  'dwm',
  'fluxbox',
  'herbstluftwm',
  'Hyprland',
  'i3',
  'labwc',
  'lxqt-session',
  'lxsession',
  'niri',
  'openbox',
  'river',
  'sway',
  'wayfire',
  'xfce4-session',
  'xmonad',
]
/** Programs that lock the screen of somebody who is away. */
const LOCKERS = ['light-locker', 'xautolock', 'xss-lock']
/** Programs that may lock it, by settings of their own. */
const IDLE_PROGRAMS = [
  ...LOCKERS,
  'cinnamon-screensaver',
  'gnome-screensaver',
  'hypridle',
  'mate-screensaver',
  'swayidle',
  'xfce4-screensaver',
  'xidlehook',
  'xscreensaver',
]

function running(names: readonly string[], more = '0'): string {
  const list = quoteListSql(names.map((name) => name.slice(0, NAME_LENGTH_MAX)))
  return `SELECT group_concat(DISTINCT name) FROM running WHERE substr(name, 1, ${NAME_LENGTH_MAX}) IN (${list}) OR ${more}`
}

const SESSION_FILES = ['/usr/share/xsessions/%.desktop', '/usr/share/wayland-sessions/%.desktop']

const linux = verdictSql({
  with: `running(name, cmdline) AS MATERIALIZED (SELECT name, cmdline FROM processes)`,
  facts: {
    processes_seen: `SELECT COUNT(*) FROM running`,
    desktops_installed: `SELECT ${SESSION_FILES.map((path) => `(SELECT COUNT(*) FROM file WHERE path LIKE ${quoteSql(path)})`).join(' + ')}`,
    self_locking_desktops: running(SELF_LOCKING),
    bare_desktops: running(BARE),
    locking_programs: running(LOCKERS, `(name = 'swayidle' AND cmdline LIKE '%lock%')`),
    idle_programs: running(IDLE_PROGRAMS),
    dconf_locks: `SELECT COUNT(*) FROM file WHERE path LIKE '/etc/dconf/db/%.d/locks/%' AND type <> 'directory'`,
  },
  cases: [
    ['UNKNOWN', `processes_seen = 0`],
    ['FAIL', `bare_desktops IS NOT NULL AND idle_programs IS NULL`],
    ['UNKNOWN', `self_locking_desktops IS NOT NULL`],
    ['PASS', `bare_desktops IS NOT NULL AND locking_programs IS NOT NULL`],
    ['UNKNOWN', `bare_desktops IS NOT NULL`],
    ['INAPPLICABLE', `desktops_installed = 0`],
  ],
})

/** Where the screen of a Linux desktop locks only by another program, one runs. */
export const linuxScreenLock: CatalogueEntry = {
  slug: 'linux-screen-lock',
  name: 'Screen lock on Linux',
  description:
    'Under window managers that do not lock by themselves, such as sway, i3, Hyprland and Xfce, a program runs that locks the screen. Unknown under GNOME, KDE Plasma and others that lock by themselves: they keep whether they do in files that osquery cannot read, and defaults lock after 5 minutes. Unknown as well while nobody is signed in at the screen.',
  issueTitle: 'Nothing locks the screen',
  topics: ['access'],
  tags: ['Important'],
  queries: { linux },
  rationaleTemplate: `A computer that stays open while you are away lets anyone who walks past read your mail and act in your name. Your window manager leaves locking to another program, and none is running.`,
  fix: {
    linux: `Install a program that locks the screen, and start it with your session.

- sway and other Wayland compositors: install \`swayidle\` and \`swaylock\`, and add to the configuration: \`exec swayidle -w timeout 300 'swaylock -f' before-sleep 'swaylock -f'\`
- i3 and other window managers of X11: install \`xss-lock\` and \`i3lock\`, and add: \`exec xset s 300\` and \`exec xss-lock -- i3lock -n\`
- Xfce: install \`xfce4-screensaver\` and switch **Lock Screen** on in its settings.

Sign out and in again.`,
  },
  privacyInfo:
    'Which desktops and screen lockers are running or installed, out of a fixed list. No other programs.',
  defaultStrategy: 'report_only',
  strategyReason: 'Most desktops do not let the agent see whether they lock.',
  shelfLife: 'setting',
}
