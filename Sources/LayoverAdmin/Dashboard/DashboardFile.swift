import LayoverCrypto
import NIOCore

/// A file of the dashboard, embedded in the binary.
struct DashboardFile: Sendable {
    let bytes: ByteBuffer
    let type: String
    /// Of the content, so a new version of the program is seen at once, and nothing is sent twice.
    let tag: String

    private init(_ content: [UInt8], type: String) {
        bytes = ByteBuffer(bytes: content)
        self.type = type
        let digest = (try? SHA256.digest(of: content)) ?? []
        let digits = digest.prefix(16).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        // Without a digest no tag may match: `*` is no entity tag of a response.
        tag = digits.isEmpty ? "\"none\"" : "\"\(digits.joined())\""
    }

    private static let script = "text/javascript; charset=utf-8"

    static let all: [String: DashboardFile] = [
        "api.js": .init(PackageResources.api_js, type: script),
        "app.js": .init(PackageResources.app_js, type: script),
        "banner.js": .init(PackageResources.banner_js, type: script),
        "bars.js": .init(PackageResources.bars_js, type: script),
        "commands.js": .init(PackageResources.commands_js, type: script),
        "curl.js": .init(PackageResources.curl_js, type: script),
        "detail.js": .init(PackageResources.detail_js, type: script),
        "dialogs.js": .init(PackageResources.dialogs_js, type: script),
        "filter.js": .init(PackageResources.filter_js, type: script),
        "guard.js": .init(PackageResources.guard_js, type: script),
        "keys.js": .init(PackageResources.keys_js, type: script),
        "lists.js": .init(PackageResources.lists_js, type: script),
        "plot.js": .init(PackageResources.plot_js, type: script),
        "selection.js": .init(PackageResources.selection_js, type: script),
        "state.js": .init(PackageResources.state_js, type: script),
        "stream.js": .init(PackageResources.stream_js, type: script),
        "table.js": .init(PackageResources.table_js, type: script),
        "text.js": .init(PackageResources.text_js, type: script),
        "theme.js": .init(PackageResources.theme_js, type: script),
        "times.js": .init(PackageResources.times_js, type: script),
        "style.css": .init(PackageResources.style_css, type: "text/css; charset=utf-8"),
        "icon.svg": .init(PackageResources.icon_svg, type: "image/svg+xml"),
    ]
}
