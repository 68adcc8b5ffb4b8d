-- Devices by their status: those that need attention are few of many.

create index device_auth_state on device (auth_state, id);
