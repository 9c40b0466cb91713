//! The protocol as data: names, numbers and types, without comments or order of declaration.
//!
//! This is what two sides must agree on. It is checked in for each generation, so a change that would break an older side shows as a
//! change of a file that must not change (`crates/wire/VERSIONING.md`).

use protox::prost_reflect::{DescriptorPool, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor, ServiceDescriptor};
use serde_json::{Map, Value, json};

/// Everything in `pool`, as JSON with sorted keys and a line for each field.
pub(crate) fn describe(pool: &DescriptorPool) -> String {
    let messages: Map<String, Value> =
        pool.all_messages().map(|message| (message.full_name().to_owned(), describe_message(&message))).collect();
    let enums: Map<String, Value> = pool.all_enums().map(|one| (one.full_name().to_owned(), describe_enum(&one))).collect();
    let services: Map<String, Value> =
        pool.services().map(|service| (service.full_name().to_owned(), describe_service(&service))).collect();
    let whole = json!({ "messages": messages, "enums": enums, "services": services });
    let mut text = serde_json::to_string_pretty(&whole).expect("values with string keys always serialise");
    text.push('\n');
    text
}

fn describe_message(message: &MessageDescriptor) -> Value {
    let fields: Map<String, Value> =
        message.fields().map(|field| (field.name().to_owned(), Value::String(describe_field(&field)))).collect();
    Value::Object(fields)
}

/// `NUMBER: [optional|repeated] TYPE [in ONEOF]`.
fn describe_field(field: &FieldDescriptor) -> String {
    let label = match field {
        field if field.is_list() => "repeated ",
        field if field.field_descriptor_proto().proto3_optional() => "optional ",
        _ => "",
    };
    let choice = field
        .containing_oneof()
        .filter(|_| !field.field_descriptor_proto().proto3_optional())
        .map(|oneof| format!(" in {}", oneof.name()))
        .unwrap_or_default();
    format!("{}: {label}{}{choice}", field.number(), type_name(&field.kind()))
}

fn type_name(kind: &Kind) -> String {
    match kind {
        Kind::Message(message) => message.full_name().to_owned(),
        Kind::Enum(one) => one.full_name().to_owned(),
        scalar => format!("{scalar:?}").to_lowercase(),
    }
}

fn describe_enum(one: &EnumDescriptor) -> Value {
    Value::Object(one.values().map(|value| (value.name().to_owned(), json!(value.number()))).collect())
}

fn describe_service(service: &ServiceDescriptor) -> Value {
    let methods: Map<String, Value> = service
        .methods()
        .map(|method| {
            let stream = if method.is_server_streaming() { "stream " } else { "" };
            let line = format!("{} -> {stream}{}", method.input().full_name(), method.output().full_name());
            (method.name().to_owned(), Value::String(line))
        })
        .collect();
    Value::Object(methods)
}
