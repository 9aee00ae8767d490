import LayoverCore
import LayoverHTTP

/// The request of an entry, with the fields that are sent to its origin. Values that may be credentials are masked.
package struct RequestDocument: Codable, Sendable {
    package struct Field: Codable, Sendable {
        package var name: String
        package var value: String
    }

    package var id: String
    package var method: String
    /// Secrets are masked.
    package var url: String
    /// In their order.
    package var fields: [Field]
    /// Of the body.
    package var bytes: Int
}

extension RequestDocument {
    init(_ entry: Entry, fields: some Sequence<FieldSlice>, _ view: EntryView) {
        self.init(
            id: view.shown(entry.id), method: entry.method, url: MaskedValue.text(entry.url),
            fields: fields.filter(\.isField).map { field in
                let isMasked = CredentialFields.mayBeOne(field.name)
                return Field(name: field.name, value: isMasked ? MaskedURL.mask : MaskedValue.text(field.text))
            }, bytes: entry.requestByteCount)
    }
}
