{{- define "siphon.labels" -}}
app.kubernetes.io/name: siphon
app.kubernetes.io/component: {{ . }}
{{- end }}
