// Draws the page's charts with Chart.js from the JSON beside it: bars, dots, roofline. Each is drawn anew where colors
// change: dark to light, screen to paper.
(() => {
  'use strict';
  if (typeof Chart === 'undefined') return;
  const specs = JSON.parse(document.getElementById('charts').textContent);
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const palette = ['#3b78c4', '#e08a2c', '#3f9b74', '#b3508f', '#7a6fc2', '#c2513f', '#4aa3b5', '#9a8b3c', '#7d8894', '#a5673f'];
  const symbols = ['circle', 'triangle', 'rect', 'rectRot', 'star'];
  const paperWidth = 680;  // pixels at 96 an inch that fit between the margins of A4 and of letter
  let paper = false;

  const color = (i) => palette[i % palette.length] + (i < palette.length ? '' : '80');
  const short = (value) => Number(value.toPrecision(4)).toString();
  const axis = (title, more = {}) => ({title: {display: true, text: title}, grid: {color: Chart.defaults.borderColor}, ...more});
  const powersOfTen = {
    maxRotation: 0, autoSkip: false, callback: (value) => (Number.isInteger(Math.log10(value)) ? value.toString() : ''),
  };
  // A name of the legend that fits into the page, its middle left out where it is too long.
  const shortened = (name) => {
    const most = Math.floor(document.querySelector('main').clientWidth / Chart.defaults.font.size / 0.7);
    if (name.length <= most) return name;
    const half = Math.floor((most - 1) / 2);
    return `${name.slice(0, half)}…${name.slice(name.length - half)}`;
  };
  const {labels} = Chart.defaults.plugins.legend;
  const wholeLabels = labels.generateLabels;
  labels.generateLabels = (chart) => wholeLabels(chart).map((item) => ({...item, text: shortened(item.text)}));
  const hover = (text) => ({callbacks: {label: text}});

  const write = (chart, text, x, y) => {
    const {ctx} = chart;
    ctx.save();
    ctx.font = `${Chart.defaults.font.size}px ${Chart.defaults.font.family}`;
    ctx.textAlign = 'right';
    ctx.lineWidth = 4;  // of a border in the page's color, so that no line runs through the text
    ctx.lineJoin = 'round';
    ctx.strokeStyle = getComputedStyle(document.body).getPropertyValue('--page');
    ctx.fillStyle = Chart.defaults.color;
    ctx.strokeText(text, x, y);
    ctx.fillText(text, x, y);
    ctx.restore();
  };

  // The name of the highest point of each series, if points have names, beside it, and that of each roof, above its right end.
  const nameInPlace = {
    id: 'nameInPlace',
    afterDatasetsDraw(chart) {
      chart.data.datasets.forEach((dataset, i) => {
        const points = chart.getDatasetMeta(i).data;
        if (dataset.roof) {
          const {x, y} = points[points.length - 1];
          write(chart, dataset.label, x - 4, y - 5);
        } else if (dataset.data.length && chart.isDatasetVisible(i)) {
          const highest = dataset.data.reduce((a, b) => (b.y > a.y ? b : a));
          const {x, y} = points[dataset.data.indexOf(highest)];
          if (highest.name) write(chart, highest.name, x - 9, y + 4);
        }
      });
    },
  };

  const kinds = {
    bars: (spec) => ({
      type: 'bar',
      data: {
        labels: spec.labels,
        datasets: spec.series.map((each, i) => ({label: each.name, data: each.values, backgroundColor: color(i)})),
      },
      options: {
        indexAxis: 'y',
        scales: {
          x: axis(spec.unit, {beginAtZero: true, stacked: !!spec.stacked, max: spec.max}),
          y: {stacked: !!spec.stacked, display: spec.labels.length > 1 || !spec.stacked, grid: {display: false}, ticks: {autoSkip: false}},
        },
        plugins: {tooltip: hover((item) => `${item.dataset.label}: ${short(item.raw)} ${spec.unit}`)},
      },
    }),

    dots: (spec) => ({
      type: 'line',
      data: {
        labels: spec.labels,
        datasets: spec.series.map((each, i) => ({
          label: each.name, data: each.values, showLine: false, pointRadius: 5, pointStyle: symbols[i % symbols.length],
          backgroundColor: color(i), borderColor: color(i),
        })),
      },
      options: {
        indexAxis: 'y',
        scales: {
          x: axis(spec.unit, {type: 'logarithmic', ticks: powersOfTen}),
          y: {type: 'category', offset: true, grid: {color: Chart.defaults.borderColor}, ticks: {autoSkip: false}},
        },
        plugins: {tooltip: hover((item) => `${item.dataset.label}: ${short(item.raw)} ${spec.unit}`)},
      },
    }),

    roofline: (spec) => {
      const points = spec.series.flatMap((each) => each.points);
      const left = Math.min(1, ...points.map((point) => point.x / 4));
      const ridge = (roof) => roof.gflops / spec.memory_gbps;
      const right = 4 * Math.max(...points.map((point) => point.x), ...spec.roofs.map(ridge));
      const roofs = spec.roofs.map((roof, i) => ({
        type: 'line', label: roof.name, roof: true, pointRadius: 0, borderWidth: 2, borderDash: i === 0 ? [] : [6, 3 + 2 * i],
        borderColor: Chart.defaults.color,
        data: [{x: left, y: left * spec.memory_gbps}, {x: ridge(roof), y: roof.gflops}, {x: right, y: roof.gflops}],
      }));
      return {
        type: 'scatter',
        plugins: [nameInPlace],
        data: {
          datasets: [
            ...spec.series.map((each, i) => ({
              label: each.name, data: each.points, pointRadius: 5, pointStyle: symbols[i % symbols.length],
              backgroundColor: color(i), borderColor: color(i),
            })),
            ...roofs,
          ],
        },
        options: {
          scales: {
            x: axis('operations per compulsory byte', {type: 'logarithmic', min: left, max: right, ticks: powersOfTen}),
            y: axis('GFLOP/s', {type: 'logarithmic', ticks: powersOfTen}),
          },
          plugins: {
            legend: {labels: {filter: (item, data) => !data.datasets[item.datasetIndex].roof}},
            tooltip: hover((item) => item.dataset.roof ? item.dataset.label : `${item.raw.name ?? item.dataset.label}: ${short(item.raw.y)} GFLOP/s`),
          },
        },
      };
    },
  };

  const charts = [];
  function draw() {
    charts.splice(0).forEach((chart) => chart.destroy());
    const onDark = dark.matches && !paper;
    Chart.defaults.color = onDark ? '#b6bec8' : '#4a525c';
    Chart.defaults.borderColor = onDark ? '#323840' : '#dfe2e6';
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    Chart.defaults.font.size = innerWidth < 600 ? 10 : 12;
    Chart.defaults.animation = false;
    Chart.defaults.maintainAspectRatio = false;
    Chart.defaults.responsive = true;
    Chart.defaults.devicePixelRatio = Math.max(2, devicePixelRatio);
    Chart.defaults.plugins.legend.position = 'bottom';
    Chart.defaults.plugins.legend.labels.usePointStyle = true;
    for (const canvas of document.querySelectorAll('canvas[data-chart]')) {
      const spec = specs[canvas.dataset.chart];
      const chart = new Chart(canvas, kinds[spec.kind](spec));
      if (paper) chart.resize(paperWidth, canvas.parentElement.clientHeight);
      charts.push(chart);
    }
  }

  draw();
  dark.addEventListener('change', draw);
  addEventListener('beforeprint', () => { paper = true; draw(); });
  addEventListener('afterprint', () => { paper = false; draw(); });
})();
