//! The Node-API module. Each environment (the main thread, each worker) has separate state.

use std::{
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
    ptr::null_mut,
};

use napi_sys::{
    Status::napi_ok, napi_callback_info, napi_create_function, napi_create_int32,
    napi_create_reference, napi_delete_reference, napi_env, napi_get_arraybuffer_info,
    napi_get_cb_info, napi_get_reference_value, napi_get_value_uint32, napi_ref,
    napi_set_instance_data, napi_set_named_property, napi_value,
};

use crate::{
    Operation,
    failure::{Code, Failure},
    operations,
    scratch::{MIN_SCRATCH, State},
};

/// The state of an environment.
struct Instance {
    state: State,
    /// The ArrayBuffer of the scratch buffer, kept alive.
    buffer: napi_ref,
}

/// Address and length of an ArrayBuffer; the length is 0 once it is detached. `None` if the value is not an
/// ArrayBuffer.
///
/// # Safety
/// `env` and `value` belong to the running call.
unsafe fn bytes_of(env: napi_env, value: napi_value) -> Option<(*mut u8, usize)> {
    let (mut start, mut length): (*mut c_void, usize) = (null_mut(), 0);
    // SAFETY: `env` and `value` are valid by the contract; both results are written before they are read.
    let status = unsafe { napi_get_arraybuffer_info(env, value, &mut start, &mut length) };
    (status == napi_ok).then_some((start.cast(), length))
}

impl Instance {
    /// Runs an operation on the current bytes of the scratch buffer.
    ///
    /// # Safety
    /// `env` belongs to the running call.
    unsafe fn run(&mut self, env: napi_env, operation: Operation, numbers: [u32; 3]) -> i32 {
        let mut buffer = null_mut();
        // SAFETY: the reference was created by `attach`, or is NULL, which Node-API rejects. Without a reference
        // `buffer` stays NULL, for which `bytes_of` returns `None`.
        let found = unsafe {
            napi_get_reference_value(env, self.buffer, &mut buffer);
            bytes_of(env, buffer)
        };
        let Some((start, length)) = found.filter(|&(_, length)| length >= MIN_SCRATCH) else {
            return -(Code::Internal as i32);
        };
        let state = &mut self.state;
        // SAFETY: these are the bytes of an ArrayBuffer that the reference keeps alive. Only JavaScript on this thread
        // can detach, resize or write to it, and none runs until the operation ends, because operations do not call
        // back. Changes that JavaScript makes before the next call are noticed there, because each call asks for the
        // bytes again.
        unsafe { state.attach(start, length) };
        let answer = catch_unwind(AssertUnwindSafe(|| state.run(operation, numbers)))
            .unwrap_or_else(|_| state.fail(&Failure::new(Code::Internal, "panic")));
        state.detach();
        answer
    }
}

/// The numbers that JavaScript passed, and the environment's instance.
unsafe fn arguments<'a>(
    env: napi_env,
    info: napi_callback_info,
    values: &mut [napi_value; 3],
) -> Option<&'a mut Instance> {
    let mut count = values.len();
    let mut data: *mut c_void = null_mut();
    // SAFETY: `env` and `info` belong to the running call; missing arguments become undefined.
    let status = unsafe {
        napi_get_cb_info(
            env,
            info,
            &mut count,
            values.as_mut_ptr(),
            null_mut(),
            &mut data,
        )
    };
    if status != napi_ok {
        return None;
    }
    // SAFETY: the data of every function is the instance, which outlives the functions; its thread runs one call at a
    // time, and no call calls back into JavaScript.
    unsafe { data.cast::<Instance>().as_mut() }
}

unsafe fn number(env: napi_env, value: i32) -> napi_value {
    let mut result = null_mut();
    // SAFETY: `env` belongs to the running call. Failure leaves NULL, which JavaScript receives as undefined.
    unsafe { napi_create_int32(env, value, &mut result) };
    result
}

unsafe fn call(env: napi_env, info: napi_callback_info, operation: Operation) -> napi_value {
    let mut values = [null_mut(); 3];
    // SAFETY: these are the arguments of the running call.
    let Some(instance) = (unsafe { arguments(env, info, &mut values) }) else {
        return null_mut();
    };
    let mut numbers = [0; 3];
    for (number, value) in numbers.iter_mut().zip(values) {
        // SAFETY: the values belong to the running call. A value that is not a number leaves 0.
        unsafe { napi_get_value_uint32(env, value, number) };
    }
    // SAFETY: `env` belongs to the running call.
    unsafe {
        let answer = instance.run(env, operation, numbers);
        number(env, answer)
    }
}

/// `attach(buffer)`: takes an ArrayBuffer as the scratch buffer. Returns 0, or -1 if it is not an ArrayBuffer or too
/// short.
unsafe extern "C" fn attach(env: napi_env, info: napi_callback_info) -> napi_value {
    let mut values = [null_mut(); 3];
    // SAFETY: these are the arguments of the running call.
    let Some(instance) = (unsafe { arguments(env, info, &mut values) }) else {
        return null_mut();
    };
    let mut buffer = null_mut();
    // SAFETY: `env` and the values belong to the running call, and the old reference is not used elsewhere. No bytes
    // are accessed here: each call asks for their address.
    unsafe {
        if bytes_of(env, values[0]).is_none_or(|(_, length)| length < MIN_SCRATCH)
            || napi_create_reference(env, values[0], 1, &mut buffer) != napi_ok
        {
            return number(env, -1);
        }
        if !instance.buffer.is_null() {
            napi_delete_reference(env, instance.buffer);
        }
        instance.buffer = buffer;
        number(env, 0)
    }
}

type Callback = unsafe extern "C" fn(napi_env, napi_callback_info) -> napi_value;

macro_rules! export {
    ($($(#[$condition:meta])* $name:ident = $path:path;)*) => {
        const FUNCTIONS: &[(&str, Callback)] = &[
            ("attach", attach),
            $($(#[$condition])* (stringify!($name), {
                unsafe extern "C" fn function(
                    env: napi_env,
                    info: napi_callback_info,
                ) -> napi_value {
                    // SAFETY: called by the runtime with the arguments of the running call.
                    unsafe { call(env, info, $path) }
                }
                function
            }),)*
        ];
    };
}
operations!(export);

unsafe extern "C" fn drop_instance(_: napi_env, data: *mut c_void, _: *mut c_void) {
    // SAFETY: made by `Box::into_raw` below; the environment is being torn down and makes no more calls.
    drop(unsafe { Box::from_raw(data.cast::<Instance>()) });
}

/// Called by the runtime when the module is loaded into an environment.
#[unsafe(no_mangle)]
unsafe extern "C" fn napi_register_module_v1(env: napi_env, exports: napi_value) -> napi_value {
    let instance = Box::into_raw(Box::new(Instance {
        state: State::default(),
        buffer: null_mut(),
    }))
    .cast();
    // SAFETY: `env` and `exports` belong to the module being loaded; each name is a string of the given length.
    unsafe {
        napi_set_instance_data(env, instance, Some(drop_instance), null_mut());
        for &(name, callback) in FUNCTIONS {
            let mut function = null_mut();
            let length = name.len() as isize;
            napi_create_function(
                env,
                name.as_ptr().cast(),
                length,
                Some(callback),
                instance,
                &mut function,
            );
            // The constant's names have no NUL terminator, so a terminated copy is needed.
            let Ok(name) = std::ffi::CString::new(name) else {
                continue;
            };
            napi_set_named_property(env, exports, name.as_ptr(), function);
        }
    }
    exports
}
