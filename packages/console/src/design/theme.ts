/* The theme of Mantine's components, from the tokens of `tokens.css`. */
import {
  ActionIcon,
  Badge,
  Button,
  createTheme,
  defaultVariantColorsResolver,
  Drawer,
  Menu,
  Modal,
  Notification,
  NumberInput,
  PasswordInput,
  rem,
  Select,
  Switch,
  Textarea,
  TextInput,
  Tooltip,
  type CSSVariablesResolver,
  type MantineColorsTuple,
} from '@mantine/core'

const signal: MantineColorsTuple = [
  '#e1eff7',
  '#c4deee',
  '#9fcbe5',
  '#6fbdea',
  '#45a3d6',
  '#2186bd',
  '#1272a6',
  '#0b5f8e',
  '#094c72',
  '#073a57',
]

/** Mantine's dark greys, as slate: the last ones are grounds, the first ones texts. */
const dark: MantineColorsTuple = [
  '#e6ecf0',
  '#c3d0d9',
  '#a3b3bf',
  '#66798a',
  '#344653',
  '#263540',
  '#1a2731',
  '#141e26',
  '#0d151b',
  '#0a1116',
]

/** The cross of what floats says what it does to those who cannot see it. */
const closing = { 'aria-label': 'Close' } as const

const small = { defaultProps: { size: 'sm' } } as const

export const theme = createTheme({
  primaryColor: 'signal',
  primaryShade: { light: 7, dark: 3 },
  // Filled parts are dark by day and light by night: what stands on them is the other way round.
  variantColorResolver: (input) => {
    const colors = defaultVariantColorsResolver(input)
    return input.variant === 'filled' ? { ...colors, color: 'var(--helio-on-filled)' } : colors
  },
  colors: { signal, dark },
  fontFamily: 'var(--helio-sans)',
  fontFamilyMonospace: 'var(--helio-mono)',
  headings: { fontFamily: 'var(--helio-sans)', fontWeight: '650' },
  defaultRadius: 'md',
  radius: { md: 'var(--helio-radius)' },
  fontSizes: { xs: rem(12), sm: rem(13), md: rem(14), lg: rem(16), xl: rem(20) },
  cursorType: 'pointer',
  focusRing: 'auto',
  components: {
    ActionIcon: ActionIcon.extend({ defaultProps: { variant: 'subtle' } }),
    Badge: Badge.extend({ defaultProps: { variant: 'light', radius: 'sm', tt: 'none', fz: 'xs' } }),
    Button: Button.extend(small),
    TextInput: TextInput.extend(small),
    PasswordInput: PasswordInput.extend(small),
    NumberInput: NumberInput.extend(small),
    Textarea: Textarea.extend(small),
    Select: Select.extend(small),
    Switch: Switch.extend(small),
    // A menu that the keyboard opens begins at its first item, which is so to be seen.
    Menu: Menu.extend({ defaultProps: { withInitialFocusPlaceholder: false } }),
    Modal: Modal.extend({ defaultProps: { centered: true, closeButtonProps: closing } }),
    Drawer: Drawer.extend({ defaultProps: { closeButtonProps: closing } }),
    Notification: Notification.extend({ defaultProps: { closeButtonProps: closing } }),
    Tooltip: Tooltip.extend({ defaultProps: { openDelay: 250, withArrow: true } }),
  },
})

/** Where Mantine's own variables take their values. */
export const resolveVariables: CSSVariablesResolver = () => {
  const shared = {
    ...light('red', 'bad'),
    ...light('orange', 'warn'),
    ...light('yellow', 'warn'),
    ...light('green', 'good'),
    ...light('blue', 'notified'),
    ...light('gray', 'unknown'),
    '--mantine-color-body': 'var(--helio-surface)',
    '--mantine-color-text': 'var(--helio-text)',
    '--mantine-color-dimmed': 'var(--helio-quiet)',
    '--mantine-color-default': 'var(--helio-surface)',
    '--mantine-color-default-border': 'var(--helio-line)',
    '--mantine-color-red-filled': 'var(--helio-bad)',
    '--mantine-color-red-filled-hover':
      'color-mix(in srgb, var(--helio-bad) 88%, var(--helio-text))',
    '--mantine-color-error': 'var(--helio-bad)',
    '--mantine-color-placeholder': 'var(--helio-quiet)',
    '--mantine-color-anchor': 'var(--helio-accent)',
  }
  return { variables: {}, light: shared, dark: shared }
}

/** The light variant of one of Mantine's colours, such as that of alerts, in the tone of a state. */
function light(color: string, tone: string): Record<string, string> {
  return {
    [`--mantine-color-${color}-light`]: `var(--helio-${tone}-soft)`,
    [`--mantine-color-${color}-light-hover`]: `var(--helio-${tone}-soft)`,
    [`--mantine-color-${color}-light-color`]: `var(--helio-${tone})`,
  }
}
