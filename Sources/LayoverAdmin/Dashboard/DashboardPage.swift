import LayoverCore
import LayoverText
import NIOCore

/// The HTML of the dashboard, complete at load: the banner and the first rows are elements, so that the page can be read
/// without JavaScript; the same snapshot is a data block, from which the scripts draw.
struct DashboardPage {
    /// Nothing but the files of this server; no script can be made of text (W3C Trusted Types).
    static let securityPolicy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; \
        base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'
        """

    private let snapshot: DashboardSnapshot

    init(_ snapshot: DashboardSnapshot) { self.snapshot = snapshot }

    var text: String {
        get throws {
            let json = String(buffer: try JSONText.bytes(snapshot)).replacing("<", with: "\\u003c")
            let parts = [
                "rehearsals": snapshot.rehearsals.map { rehearsal in
                    let text = "Rehearsal: an outage of \(rehearsal.host) (\(rehearsal.fault)) is played by Layover."
                    return "<div class=\"incident rehearsal\"><p>\(Self.escaped(text))</p></div>"
                }.joined(),
                "banner": snapshot.incidents.map(line).joined(),
                "tabs": DashboardTab.allCases.map(link).joined(),
                "rows": snapshot.data.map(row).joined(),
                "status": Self.escaped("Network: \(snapshot.reachability.state)"),
                "problem": Self.escaped(snapshot.problem ?? ""),
                "empty": snapshot.data.isEmpty ? empty : "",
                "pages": snapshot.nextCursor.map { "<a href=\"/?tab=\(snapshot.tab)&amp;cursor=\(Self.escaped($0))\">Next page</a>" } ?? "",
                "version": Self.escaped(LayoverVersion.current),
                "snapshot": json,
            ]
            // The parts hold text of strangers, which may look like a mark: so each mark is looked for in the file alone.
            var page = ""
            for (index, piece) in Self.pieces.enumerated() {
                page += index.isMultiple(of: 2) ? String(piece) : parts[String(piece)] ?? ""
            }
            return page
        }
    }

    /// The file, cut at its marks: every second piece is the name of a part.
    private static let pieces = String(decoding: PackageResources.index_html, as: UTF8.self).split(separator: "%%")

    private func link(to tab: DashboardTab) -> String {
        let count = tab.filter.map { filter in StateCounts.liveNames.reduce(0) { sum, name in
            sum + (EntryState(rawValue: name).map(filter.states.contains) == true ? snapshot.counts[name] ?? 0 : 0)
        } } ?? 0
        let isCounted = tab != .tickets && tab != .recent && count > 0
        return """
            <a href="/?tab=\(tab.rawValue)"\(tab.rawValue == snapshot.tab ? " aria-current=\"page\"" : "")>\(tab.title)\
            \(isCounted ? " <span class=\"count\">\(count)</span>" : "")</a>
            """
    }

    private var empty: String {
        let proxy = snapshot.proxy.first { $0.hasPrefix("http") }
        return "<p>Nothing is here.</p>" + (proxy.map { "<pre>export http_proxy=\(Self.escaped($0))</pre>" } ?? "")
    }

    // MARK: Banner

    private func line(_ incident: IncidentDocument) -> String {
        let id = Self.escaped(incident.id)
        let retry = "<button type=\"button\" data-verb=\"incident-retry\" data-id=\"\(id)\">Retry now</button>"
        let cancel = "<button type=\"button\" data-verb=\"incident-cancel\" data-id=\"\(id)\" data-danger>Cancel all</button>"
        return """
            <div class="incident" data-incident="\(id)"><p>\(Self.escaped(sentence(incident)))</p>\
            \(incident.actions.contains("retry") ? retry : "")\(incident.actions.contains("cancel") ? cancel : "")</div>
            """
    }

    private func sentence(_ incident: IncidentDocument) -> String {
        let count = incident.waiting
        if incident.kind == "decision" {
            let place = incident.origin.map { " (\($0))" } ?? ""
            return "\(count) \(count == 1 ? "request needs" : "requests need") a decision\(place)."
        }
        let place = incident.origin.map { "\($0) cannot be reached" } ?? "Offline"
        let text = "\(place) since \(Self.clock(incident.since)) UTC: \(count) \(count == 1 ? "request is" : "requests are") waiting."
        return text + (next(incident).map { " " + $0 } ?? "")
    }

    /// The same words as in banner.js, which go on from here.
    private func next(_ incident: IncidentDocument) -> String? {
        if incident.manualOnly { return "No automatic attempts are left." }
        guard let due = incident.nextAttemptAt else { return nil }
        let part = Self.part(incident)
        guard let dueAt = RFC3339.nanoseconds(of: due), let now = RFC3339.nanoseconds(of: snapshot.now), dueAt > now else {
            return "Sending…\(part)"
        }
        return "Retrying in \((dueAt - now + 999_999_999) / 1_000_000_000) s\(part)"
    }

    private static func part(_ incident: IncidentDocument) -> String {
        guard let most = incident.automaticMax, let left = incident.automaticLeft, left > 0 else { return "" }
        return " (\(max(1, most - left + 1)) of \(most))"
    }

    // MARK: Table

    private func row(_ entry: EntryDocument) -> String {
        let id = Self.escaped(entry.id)
        let next = entry.nextAttemptAt.map { "<time datetime=\"\(Self.escaped($0))\">\(Self.clock($0)) UTC</time>" } ?? ""
        return """
            <tr data-id="\(id)"><td></td><td>\(Self.escaped(entry.state))</td>\
            <td class="request"><a href="/v1/pending/\(id)/explain">\(Self.escaped(entry.method)) \(Self.escaped(entry.url))</a></td>\
            <td class="why">\(Self.escaped(entry.lastFailure?.message ?? ""))</td><td>\(next)</td><td>\(entry.attempts)</td>\
            <td><time datetime="\(Self.escaped(entry.parkedAt))">\(Self.clock(entry.parkedAt)) UTC</time></td><td></td></tr>
            """
    }

    /// Hours and minutes of an RFC 3339 time.
    private static func clock(_ time: String) -> Substring { time.dropFirst(11).prefix(5) }

    /// Text as text in HTML, in elements and in attributes; control and bidi characters are made visible.
    static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default:
                if scalar.isInvisible {
                    escaped += "\\u{" + String(scalar.value, radix: 16) + "}"
                } else {
                    escaped.unicodeScalars.append(scalar)
                }
            }
        }
        return escaped
    }
}

extension Unicode.Scalar {
    /// Control characters and those that change the direction of the text around them (Unicode UAX #9).
    fileprivate var isInvisible: Bool {
        properties.generalCategory == .control || properties.generalCategory == .format
    }
}
