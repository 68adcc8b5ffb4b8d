import type { TableSources } from './table-definition.ts'

/** Tables that every platform has, with the columns that are the same everywhere (osquery 5.20). */
export const COMMON_TABLES: TableSources = {
  system_info: `hostname uuid! cpu_type cpu_subtype cpu_brand cpu_physical_cores:integer
    cpu_logical_cores:integer cpu_sockets:integer cpu_microcode physical_memory:bigint
    hardware_vendor hardware_model hardware_version hardware_serial board_vendor board_model
    board_version board_serial computer_name local_hostname emulated_cpu_type`,
  os_version: `name version major:integer minor:integer patch:integer build platform platform_like
    codename arch`,
  osquery_info: `pid:integer uuid! instance_id version config_hash! config_valid:integer extensions
    build_platform build_distro start_time:integer watcher:integer platform_mask:integer`,
  osquery_flags: `name type description default_value value shell_only:integer`,
  platform_info: `vendor version date revision address size volume_size:integer extra`,
  uptime: `days:integer hours:integer minutes:integer seconds:integer total_seconds:bigint`,
  time: `weekday year:integer month:integer day:integer hour:integer minutes:integer
    seconds:integer timezone local_timezone unix_time:integer timestamp datetime iso_8601`,
  users: `uid:bigint gid:bigint uid_signed:bigint gid_signed:bigint username description directory
    shell uuid!`,
  groups: `gid:bigint gid_signed:bigint groupname`,
  user_groups: `uid:bigint gid:bigint`,
  logged_in_users: `type user tty host time:bigint pid:integer`,
  user_ssh_keys: `uid:bigint path encrypted:integer key_type key_group_name key_length:integer
    key_security_bits:integer`,
  chrome_extensions: `browser_type uid:bigint name profile profile_path referenced_identifier
    identifier version description default_locale current_locale update_url author
    persistent:integer path permissions permissions_json optional_permissions
    optional_permissions_json manifest_hash referenced:bigint from_webstore state install_time
    install_timestamp:bigint manifest_json key`,
  firefox_addons: `uid:bigint name identifier creator type version description source_url
    visible:integer active:integer disabled:integer autoupdate:integer location path`,
  listening_ports: `pid:integer port:integer protocol:integer family:integer address fd:bigint
    socket:bigint path`,
  processes: `pid:bigint name path cmdline state cwd root uid:bigint gid:bigint euid:bigint
    egid:bigint suid:bigint sgid:bigint on_disk:integer wired_size:bigint resident_size:bigint
    total_size:bigint user_time:bigint system_time:bigint disk_bytes_read:bigint
    disk_bytes_written:bigint start_time:bigint parent:bigint pgroup:bigint threads:integer
    nice:integer`,
  process_open_sockets: `pid:integer fd:bigint socket:bigint family:integer protocol:integer
    local_address remote_address local_port:integer remote_port:integer path state`,
  interface_addresses: `interface address mask broadcast point_to_point type`,
  interface_details: `interface mac type:integer mtu:integer metric:integer flags:integer
    ipackets:bigint opackets:bigint ibytes:bigint obytes:bigint ierrors:bigint oerrors:bigint
    idrops:bigint odrops:bigint collisions:bigint last_change:bigint`,
  kernel_info: `version arguments path device`,
  startup_items: `name path args type source status username`,
  certificates: `common_name subject subject2 issuer issuer2 ca:integer self_signed:integer
    not_valid_before not_valid_after signing_algorithm key_algorithm key_strength key_usage
    subject_key_id! authority_key_id! sha1! path serial!`,
  file: `path directory filename inode:bigint uid:bigint gid:bigint mode device:bigint size:bigint
    block_size:integer atime:bigint mtime:bigint ctime:bigint btime:bigint hard_links:integer
    symlink:integer symlink_target_path type`,
  hash: `path directory md5 sha1 sha256`,
  etc_hosts: `address hostnames`,
  routes: `destination netmask:integer gateway source flags:integer interface mtu:integer
    metric:integer type`,
  cpu_info: `device_id model manufacturer processor_type cpu_status:integer number_of_cores
    logical_processors:integer address_width current_clock_speed:integer max_clock_speed:integer
    socket_designation load_percentage:integer`,
  python_packages: `name version summary author license path directory uid:bigint`,
  npm_packages: `name version description author license homepage path directory`,
  vscode_extensions: `name uuid version path publisher publisher_id installed_at:bigint
    prerelease:integer uid:bigint vscode_edition`,
  secureboot: `secure_boot:integer`,
  battery: `manufacturer manufacture_date:integer model serial_number cycle_count:integer health
    condition state charging:integer charged:integer designed_capacity:integer
    max_capacity:integer current_capacity:integer percent_remaining:integer amperage:integer
    voltage:integer minutes_until_empty:integer minutes_to_full_charge:integer chemistry`,
}

/** Tables and columns that macOS and Linux share. */
export const POSIX_TABLES: TableSources = {
  disk_encryption: `name uuid encrypted:integer type encryption_status`,
  mounts: `device device_alias path type blocks_size:bigint blocks:bigint blocks_free:bigint
    blocks_available:bigint inodes:bigint inodes_free:bigint flags`,
  block_devices: `name parent vendor model serial size:bigint block_size:integer uuid type label`,
  authorized_keys: `uid:bigint algorithm key options comment key_file`,
  sudoers: `source header rule_details`,
  crontab: `event minute hour day_of_month month day_of_week command path`,
  augeas: `node value label path`,
  dns_resolvers: `id:integer type address netmask options:bigint`,
  memory_devices: `handle array_handle form_factor total_width:integer data_width:integer
    size:integer set:integer device_locator bank_locator memory_type memory_type_details
    max_speed:integer configured_clock_speed:integer manufacturer serial_number asset_tag
    part_number min_voltage:integer max_voltage:integer configured_voltage:integer`,
  usb_devices: `usb_address:integer usb_port:integer vendor vendor_id version model model_id serial
    class subclass protocol removable:integer`,
  interface_details: `link_speed:bigint`,
  routes: `hopcount:integer`,
  ssh_configs: `uid:bigint block option ssh_config_file`,
}
