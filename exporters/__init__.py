"""Where spans go: through queues to memory and to files of OTLP lines; and what receives and searches such lines.

What belongs here takes spans from a running application, or from what it sent, and hands them on. It may use what reads
traces, and nothing that judges, stores or shows results; `init` finds the exporters among it by entry point. Import it
as `pixie_otel.exporters`.
"""
